import { kubeTime } from '@slipway/kube';

import type { ManagedControlPlane } from '../api/managed-control-plane.ts';
import type { ReadonlyComponent } from '../component/component-resource.ts';
import type { ComponentType } from '../component/component-type.ts';
import { reconciliationType } from '../component/conditions.ts';
import { names, operations } from '../names.ts';
import type { Existing } from './sync-components.ts';

export type McpCondition = NonNullable<NonNullable<ManagedControlPlane['status']>['conditions']>[number];

/** The condition that sums up all components. */
export const successfulType = 'MCPSuccessful';

export interface AggregateInput {
  readonly existing: Existing;
  /** Components others have ignored: what they once said does not count. */
  readonly ignored: ReadonlySet<ComponentType>;
  /** Components that should have something to say. */
  readonly expected: ReadonlySet<ComponentType>;
  readonly old: readonly McpCondition[];
  readonly nowMs: number;
}

export interface Aggregated {
  readonly conditions: McpCondition[];
  /** Types of conditions that two components have. The first keeps it; the second is named in the aggregate, and all others are as they are. */
  readonly clashes: readonly ConditionClash[];
}

/** Two components export one type of condition. Only the author of one of them can mend that. */
export class ConditionClash extends Error {
  constructor(component: ComponentType, condition: string, owner: string) {
    super(
      `internal error: component '${component}' has condition '${condition}', but that condition is already managed by component '${owner}'; the author of one of them has to rename it`,
    );
    this.name = 'ConditionClash';
  }
}

/**
 * The conditions of all components in one list. Private ones (their type begins in lower case) stay where they are; the reconciliation of each goes
 * into the aggregate.
 */
export function aggregateConditions({ existing, ignored, expected, old, nowMs }: AggregateInput): Aggregated {
  const exported = new Map<string, McpCondition>();
  const problems: string[] = [];
  const remarks: string[] = [];
  const clashes: ConditionClash[] = [];
  for (const type of ignored) exported.set(type, ignoredCondition(type));
  // One that was only just made has nothing to say yet, and without it all would seem well.
  for (const type of new Set([...existing.keys(), ...expected]).difference(ignored)) {
    for (const condition of conditionsOf(type, existing.get(type), expected)) {
      if (/^[a-z]/.test(condition.type)) continue;
      if (condition.type === reconciliationType(type)) {
        const { reason = '', message = '' } = condition;
        if (condition.status !== 'True') problems.push(`\t${type}: [${reason}] ${message}`);
        else if (message) remarks.push(`${type}: ${message.replaceAll('\n', '\n\t')}`);
        continue;
      }
      const other = exported.get(condition.type);
      if (other) {
        const clash = new ConditionClash(type, condition.type, other.managedBy);
        clashes.push(clash);
        problems.push(`\t${type}: [DuplicateCondition] ${clash.message}`);
        continue;
      }
      exported.set(condition.type, { ...condition, managedBy: type });
    }
  }
  const aggregate = withTime(aggregateOf(problems, remarks), old, nowMs);
  const list = [...exported.values()].sort((a, b) => compare(a.managedBy, b.managedBy) || compare(a.type, b.type));
  return { conditions: [...list, aggregate], clashes };
}

function ignoredCondition(type: ComponentType): McpCondition {
  const message = `The ${type} is annotated with ${names.operationAnnotation}=${operations.ignore}: it is neither changed nor deleted. Remove the annotation when that is to end.`;
  return { type, status: 'Unknown', reason: 'ComponentIgnored', message, managedBy: type };
}

function conditionsOf(
  type: ComponentType,
  component: ReadonlyComponent | undefined,
  expected: ReadonlySet<ComponentType>,
): McpCondition[] {
  const conditions = (component?.status?.conditions ?? []) as McpCondition[];
  if (conditions.length > 0 || !expected.has(type)) return [...conditions];
  const message = 'This component does not expose any conditions.';
  return [{ type, status: 'Unknown', reason: 'NoConditions', message, managedBy: type }];
}

function aggregateOf(problems: string[], remarks: string[]): McpCondition {
  if (problems.length === 0) {
    const message = remarks.sort().join('\n');
    return {
      type: successfulType,
      status: 'True',
      reason: 'AllComponentsReconciledSuccessfully',
      ...(message ? { message } : {}),
      managedBy: '',
    };
  }
  const message = ['The following components could not be reconciled successfully:', ...problems.sort()].join('\n');
  return {
    type: successfulType,
    status: 'False',
    reason: 'NotAllComponentsReconciledSuccessfully',
    message,
    managedBy: '',
  };
}

function withTime(condition: McpCondition, old: readonly McpCondition[], nowMs: number): McpCondition {
  const before = old.find((candidate) => candidate.type === condition.type);
  const kept = before?.status === condition.status ? before.lastTransitionTime : undefined;
  return { ...condition, lastTransitionTime: kept ?? kubeTime(nowMs) };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
