import { kubeTime } from './clock.ts';
import type { Condition } from './kinds/meta-types.ts';

/** A condition as a reconciler states it: the time and the generation are filled in when it is written. */
export interface ConditionInput {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  /** CamelCase word for machines. */
  reason: string;
  /** A sentence for people: what is the matter and what to do. */
  message: string;
  lastTransitionTime?: string;
  observedGeneration?: number;
}

interface ConditionLike {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly observedGeneration?: number;
}

interface WithConditions {
  readonly status?: { readonly conditions?: readonly ConditionLike[] };
}

/** Any condition: `condition('Available', true, 'Serving', 'three of three replicas answer')`. */
export function condition(type: string, status: boolean | 'Unknown', reason: string, message = ''): Condition {
  const text = status === 'Unknown' ? 'Unknown' : status ? 'True' : 'False';
  if (!/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason))
    throw new TypeError(`condition ${type}: reason "${reason}" must be a CamelCase word`);
  // The client fills in the time of the transition when it writes; '' marks that nobody has said it yet.
  return { type, status: text, reason, message, lastTransitionTime: '' };
}

/** The `Ready` condition: `ready(false, 'ImageMissing', 'set spec.image')`. */
export function ready(status: boolean | 'Unknown', reason: string, message = ''): Condition {
  return condition('Ready', status, reason, message);
}

/**
 * `conditions` with `next` merged in by type. `lastTransitionTime` moves only when `status` flips; order is kept, new types
 * go last. Returns the same array when nothing changes.
 */
export function setCondition(
  conditions: readonly ConditionLike[] | undefined,
  next: ConditionInput,
  nowMs: number,
): Condition[] {
  const existing = conditions ?? [];
  const index = existing.findIndex((c) => c.type === next.type);
  const old = existing[index];
  const flipped = old === undefined || old.status !== next.status;
  const merged = {
    ...old,
    ...next,
    lastTransitionTime: flipped
      ? next.lastTransitionTime || kubeTime(nowMs)
      : old.lastTransitionTime || next.lastTransitionTime || kubeTime(nowMs),
  };
  if (merged.observedGeneration === undefined) delete merged.observedGeneration;
  if (old && sameCondition(old, merged)) return existing as Condition[];
  const result: ConditionLike[] = [...existing];
  if (old) result[index] = merged;
  else result.push(merged);
  return result as Condition[];
}

function sameCondition(a: ConditionLike, b: ConditionLike): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.lastTransitionTime === b.lastTransitionTime &&
    a.observedGeneration === b.observedGeneration
  );
}

/** `conditions` without the one of `type`. Returns the same array when there is none. */
export function removeCondition(conditions: readonly ConditionLike[] | undefined, type: string): Condition[] {
  const existing = (conditions ?? []) as Condition[];
  return existing.some((c) => c.type === type) ? existing.filter((c) => c.type !== type) : existing;
}

/** The condition of `type` in an object's status or in a list of conditions. */
export function findCondition(
  source: WithConditions | readonly ConditionLike[] | undefined,
  type: string,
): ConditionLike | undefined {
  const list = Array.isArray(source)
    ? (source as readonly ConditionLike[])
    : (source as WithConditions | undefined)?.status?.conditions;
  return list?.find((c) => c.type === type);
}

export function isConditionTrue(source: WithConditions | readonly ConditionLike[] | undefined, type: string): boolean {
  return findCondition(source, type)?.status === 'True';
}

export function isConditionFalse(source: WithConditions | readonly ConditionLike[] | undefined, type: string): boolean {
  return findCondition(source, type)?.status === 'False';
}
