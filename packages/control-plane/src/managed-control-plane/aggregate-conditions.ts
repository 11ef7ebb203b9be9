import { kubeTime } from '@slipway/kube';

import type { ManagedControlPlane } from '../api/managed-control-plane.ts';
import type { ReadonlyComponent } from '../component/component-resource.ts';
import type { ComponentType } from '../component/component-type.ts';
import { reconciliationType } from '../component/conditions.ts';
import type { Existing } from './sync-components.ts';

export type McpCondition = NonNullable<NonNullable<ManagedControlPlane['status']>['conditions']>[number];

/** The condition that sums up all components. */
export const successfulType = 'MCPSuccessful';

export interface AggregateInput {
  readonly existing: Existing;
  /** Components that should have something to say. */
  readonly expected: ReadonlySet<ComponentType>;
  readonly old: readonly McpCondition[];
  readonly nowMs: number;
}

/**
 * The conditions of all components in one list. Private ones (their type begins in lower case) stay where they are; the reconciliation of each goes
 * into the aggregate. Two components with the same type of condition are a mistake of ours, and an error.
 */
export function aggregateConditions({ existing, expected, old, nowMs }: AggregateInput): McpCondition[] {
  const exported = new Map<string, McpCondition>();
  const problems: string[] = [];
  const remarks: string[] = [];
  // One that was only just made has nothing to say yet, and without it all would seem well.
  for (const type of new Set([...existing.keys(), ...expected])) {
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
        throw new Error(
          `internal error: component '${type}' has condition '${condition.type}', but that condition is already managed by component '${other.managedBy}'`,
        );
      }
      exported.set(condition.type, { ...condition, managedBy: type });
    }
  }
  const aggregate = withTime(aggregateOf(problems, remarks), old, nowMs);
  const list = [...exported.values()].sort((a, b) => compare(a.managedBy, b.managedBy) || compare(a.type, b.type));
  return [...list, aggregate];
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
