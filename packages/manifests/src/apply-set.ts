import type { Client, KubeObject } from '@slipway/kube';

import { AppliedMemo } from './applied-memo.ts';
import { applyMember, refusalText, type AdoptionPolicy, type MemberContext } from './apply-member.ts';
import { withDriftMark } from './drift-mark.ts';
import { HealthRules } from './health-rules.ts';
import { refKey, refOf, refText, type ObjectRef } from './identity.ts';
import { inParallel } from './in-parallel.ts';
import { readLiveMembers, type Sought } from './live-state.ts';
import { withMembership, type Membership } from './membership.ts';
import type { MemberResult, SetResult } from './member-result.ts';
import { preflight, type LiveMembers } from './preflight.ts';
import { ServedKinds } from './served-kinds.ts';
import { orderInWaves, type Wave } from './waves.ts';

export interface ApplySetOptions {
  readonly client: Client;
  readonly objects: readonly KubeObject[];
  /** Who owns the fields; one name per set. */
  readonly fieldManager: string;
  /** How members are marked, see `membershipOf`. */
  readonly membership: Membership;
  /** Default `AdoptIfUnowned`. */
  readonly adoption?: AdoptionPolicy;
  /** Whose health the next wave waits for. Default: everyone's. Definitions and namespaces are always waited for: without them the next wave fails. */
  readonly gate?: (ref: ObjectRef) => boolean;
  /** Default: the built-in rules. */
  readonly health?: HealthRules;
  /** Requests at a time. Default 8. */
  readonly concurrency?: number;
  /** Only these members (by `refKey`) are looked at; the others are taken to be as they should. For a change known from a watch. */
  readonly only?: ReadonlySet<string>;
  /** Ask the server about all writes of the pass before making the first one, so that a mistake is found before anything changes. Default false. */
  readonly preflight?: boolean;
  /** Told when a wave is through, and how. For measuring: waves follow each other without a pause. */
  readonly onWave?: (wave: string, state: SetResult['state']) => void;
  /** Keeps what was learnt over several passes. Default: a new one for this pass. */
  readonly memo?: AppliedMemo;
  readonly signal?: AbortSignal;
}

/**
 * One pass over a set: applies wave by wave, in parallel inside a wave, and stops at the first wave that fails or is not
 * healthy yet. It never waits; run it again when members change. A pass over an unchanged set makes no write and one list per
 * kind.
 */
export async function applySet(options: ApplySetOptions): Promise<SetResult> {
  const { client, membership, signal } = options;
  const concurrency = options.concurrency ?? 8;
  const waves = orderInWaves(options.objects.map((object) => withDriftMark(withMembership(object, membership))));
  const context: MemberContext = {
    client,
    fieldManager: options.fieldManager,
    membership,
    adoption: options.adoption ?? 'AdoptIfUnowned',
    health: options.health ?? new HealthRules(),
    memo: options.memo ?? new AppliedMemo(),
    ...(signal ? { signal } : {}),
  };
  const inView = (object: KubeObject) => options.only?.has(refKey(refOf(object))) ?? true;
  const whole = (results: MemberResult[]) => (options.only ? results : fillPending(waves, results));
  const objects = waves.flatMap((wave) => wave.objects);
  const kinds = new ServedKinds(client, objects, signal);
  await kinds.learn(objects.filter(inView), { trustSet: false });
  let read: LiveMembers = new Map();
  if (options.preflight) {
    const found = await preflight(objects.filter(inView), kinds, context, concurrency);
    if (found.refused.length > 0) return { state: 'failed', members: whole(found.refused), wave: 'preflight' };
    read = found.read;
  }

  const gates = (ref: ObjectRef) => isFoundation(ref) || (options.gate?.(ref) ?? true);
  const results: MemberResult[] = [];
  for (const wave of waves) {
    const members = wave.objects.filter(inView);
    if (members.length === 0) continue;
    // A definition applied in an earlier wave may have made a kind known.
    await kinds.learn(members, { trustSet: true });
    const outcome = await applyWave(members, kinds, read, context, concurrency);
    results.push(...outcome);
    const state = stateOf(outcome, gates);
    options.onWave?.(wave.label, state);
    if (state !== 'applied') return { state, wave: wave.label, members: whole(results) };
  }
  return { state: 'applied', members: results };
}

async function applyWave(
  members: readonly KubeObject[],
  kinds: ServedKinds,
  read: LiveMembers,
  context: MemberContext,
  concurrency: number,
): Promise<MemberResult[]> {
  const { client, membership, signal } = context;
  const unread = members.filter((object) => kinds.usable(object) && !read.has(refKey(refOf(object))));
  const forbidden = new Map<string, unknown>();
  const live = await readLiveMembers(
    client,
    unread.map((object): Sought => ({ ref: refOf(object), kind: kinds.usable(object)! })),
    membership,
    { concurrency, signal, onForbidden: (ref, error) => forbidden.set(refKey(ref), error) },
  );
  return await inParallel(members, concurrency, async (object): Promise<MemberResult> => {
    const ref = refOf(object);
    const key = refKey(ref);
    const kind = kinds.usable(object);
    if (!kind) return { ref, action: 'failed', message: kinds.problem(object) };
    if (forbidden.has(key)) return { ref, action: 'failed', message: refusalText(forbidden.get(key)) };
    const present = live.get(key) ?? read.get(key);
    // Thousands of members are not held longer than needed.
    live.delete(key);
    read.delete(key);
    const result = await applyMember(object, kind, present, context);
    // Between "established" and "served" there is a moment.
    return result.action === 'failed' &&
      kinds.isDefinedBySet(object) &&
      /could not find the requested resource/.test(result.message ?? '')
      ? { ref, action: 'waiting', message: 'its definition is not served yet' }
      : result;
  });
}

function stateOf(wave: readonly MemberResult[], gates: (ref: ObjectRef) => boolean): SetResult['state'] {
  if (wave.some((result) => result.action === 'failed')) return 'failed';
  const waits = wave.some(
    (result) => result.action === 'waiting' || (gates(result.ref) && result.health?.status !== 'Current'),
  );
  return waits ? 'waiting' : 'applied';
}

function isFoundation(ref: ObjectRef): boolean {
  return ref.kind === 'Namespace' || ref.kind === 'CustomResourceDefinition';
}

function fillPending(waves: readonly Wave[], results: readonly MemberResult[]): MemberResult[] {
  const seen = new Set(results.map((result) => refKey(result.ref)));
  const pending: MemberResult[] = waves
    .flatMap((wave) => wave.objects)
    .map((object): ObjectRef => refOf(object))
    .filter((ref) => !seen.has(refKey(ref)))
    .map((ref) => ({ ref, action: 'pending' }));
  return [...results, ...pending];
}

/** The members a pass waits for, in words. */
export function waitingText(result: SetResult, limit = 3): string {
  const waiting = result.members.filter(
    (member) => member.action === 'waiting' || (member.health && member.health.status !== 'Current'),
  );
  const texts = waiting
    .slice(0, limit)
    .map((member) => `${refText(member.ref)} ${member.message ?? member.health?.message ?? ''}`.trim());
  if (waiting.length > limit) texts.push(`and ${waiting.length - limit} more`);
  return texts.join('; ');
}
