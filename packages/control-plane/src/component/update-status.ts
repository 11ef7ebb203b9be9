import { type Client, createMergePatch, isNotFound, type Kind } from '@slipway/kube';

import type { Reason } from '../reasons.ts';
import { ComponentError } from './component-error.ts';
import type { ComponentCondition, ReadonlyComponent } from './component-resource.ts';
import { type ComponentType, externalStatusOf } from './component-type.ts';
import { ConditionUpdater, healthyType, reconciliationType } from './conditions.ts';
import { type CreatedFrom, createdFromOrNone, getCreatedFromGeneration } from './created-from-generation.ts';
import type { InternalTexts } from './internal.ts';

/** What a reconciliation came to. */
export interface StatusResult {
  readonly type: ComponentType;
  readonly component: ReadonlyComponent;
  /** What went wrong. */
  readonly error?: unknown;
  /** Of the reconciliation condition, when there is something to say besides the error. */
  readonly reason?: Reason;
  readonly message?: string;
  readonly conditions: readonly ComponentCondition[];
  /** The component's own fields; those it leaves out stay, `undefined` removes one. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly internals: InternalTexts;
  readonly nowMs: number;
}

/** Writes the status of a component, on success and on error alike, when it differs from what is there. */
export async function updateStatus(client: Pick<Client, 'patch'>, kind: Kind, result: StatusResult): Promise<void> {
  const { component } = result;
  const before = component.status ?? {};
  const status: Record<string, unknown> = { ...before, ...visible(result), ...commonStatus(result) };
  const change = createMergePatch(before, status);
  if (change === undefined) return;
  const { name, namespace, uid } = component.metadata;
  const body = { metadata: { uid }, status: change };
  try {
    await client.patch(kind, { namespace, name: name! }, { type: 'merge', body }, { subresource: 'status' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** The fields as the customer may see them: those that are copied into the ManagedControlPlane hold nothing internal. */
function visible({ type, fields = {}, internals }: StatusResult): Record<string, unknown> {
  const external = externalStatusOf(type);
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [
      field,
      external.includes(field) ? internals.redactAll(value) : value,
    ]),
  );
}

function commonStatus(result: StatusResult): Record<string, unknown> {
  const { type, component, internals, nowMs } = result;
  const errors = [result.error, labelError(component)].filter((error) => error !== undefined);
  const updater = new ConditionUpdater(component.status?.conditions, nowMs);
  const state = (condition: ComponentCondition): void => {
    updater.update(internals.redactAll(condition));
  };
  state({
    type: reconciliationType(type),
    status: errors.length === 0 ? 'True' : 'False',
    reason: errors.map(reasonOf).find((reason) => reason !== undefined) ?? result.reason ?? failedReason(errors),
    message: [...(result.message ? [result.message] : []), ...errors.map(textOf)].join('\n'),
  });
  for (const condition of result.conditions) state(condition);
  if (!updater.has(healthyType(type))) state(missingHealth(type, result.error !== undefined));
  const createdFrom: CreatedFrom = createdFromOrNone(component);
  return {
    conditions: updater.conditions(),
    observedGenerations: { resource: component.metadata.generation ?? 0, ...createdFrom },
  };
}

function missingHealth(type: ComponentType, failed: boolean): ComponentCondition {
  return failed
    ? {
        type: healthyType(type),
        status: 'False',
        reason: 'ReconciliationError',
        message: 'An error occurred during reconciliation.',
      }
    : {
        type: healthyType(type),
        status: 'Unknown',
        reason: 'MissingExpectedCondition',
        message: 'The component did not expose this condition.',
      };
}

function labelError(component: ReadonlyComponent): unknown {
  try {
    getCreatedFromGeneration(component);
    return undefined;
  } catch (error) {
    return error;
  }
}

function failedReason(errors: readonly unknown[]): Reason | undefined {
  return errors.length > 0 ? 'ReconciliationError' : undefined;
}

function reasonOf(error: unknown): Reason | undefined {
  return error instanceof ComponentError ? error.reason : undefined;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
