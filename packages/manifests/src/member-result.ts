import type { Health } from './health.ts';
import type { ObjectRef } from './identity.ts';

/**
 * What happened to one member in one pass.
 *
 * `kept`: exists and is only ensured to exist; `drifted`: differs, and the member's policy is to leave it; `waiting`: has to
 * be gone before it can be made anew; `pending`: its wave was not reached.
 */
export type MemberAction =
  | 'created'
  | 'configured'
  | 'unchanged'
  | 'recreated'
  | 'kept'
  | 'drifted'
  | 'waiting'
  | 'failed'
  | 'pending';

export interface MemberResult {
  readonly ref: ObjectRef;
  readonly action: MemberAction;
  readonly uid?: string;
  /** Which state of the object was found or made. */
  readonly resourceVersion?: string;
  readonly health?: Health;
  /** Why it failed or was left alone: names the object and says what to do. */
  readonly message?: string;
  /** The failure may pass by itself: the server was busy or away, or somebody else wrote at the same moment. */
  readonly retriable?: boolean;
  /** What the server answered, for decisions that depend on it. */
  readonly error?: unknown;
}

/** The outcome of a pass over a set. `waiting`: a wave is not healthy yet; the next pass goes on from there. */
export interface SetResult {
  readonly state: 'applied' | 'waiting' | 'failed';
  readonly members: readonly MemberResult[];
  /** Label of the wave that waits or failed. */
  readonly wave?: string;
}

/** `created 3, unchanged 97`: a pass in one line. */
export function countActions(members: readonly MemberResult[]): Partial<Record<MemberAction, number>> {
  const counts: Partial<Record<MemberAction, number>> = {};
  for (const { action } of members) counts[action] = (counts[action] ?? 0) + 1;
  return counts;
}
