import { firstOfMany, isForbidden, isUnknownKind, StorageClass, type Client, type KubeObject } from '@slipway/kube';

import { AppliedMemo } from './applied-memo.ts';
import { applyMember, type AdoptionPolicy, type MemberContext } from './apply-member.ts';
import { withDriftMark } from './drift-mark.ts';
import { HealthGates } from './health-gates.ts';
import type { HealthFacts } from './health.ts';
import { HealthRules } from './health-rules.ts';
import { type ObjectRef, refKey, refOf, spokenText } from './identity.ts';
import { inParallel } from './in-parallel.ts';
import { readLiveMembers, type Sought } from './live-state.ts';
import { withMembership, type Membership } from './membership.ts';
import type { MemberResult, SetResult } from './member-result.ts';
import { preflight, type LiveMembers } from './preflight.ts';
import { isServerFault, refusedMember } from './refusal.ts';
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
  /** Whose health counts: for the pass to be `applied`, and for members that ask to come after others. Default: everyone's. */
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
 * One pass over a set: applies wave by wave, in parallel inside a wave. Definitions and namespaces are waited for by what needs
 * them. Health otherwise holds up only what asks to come later, by a `wave` or `depends-on` annotation: members may need each
 * other to get healthy, in any order of their kinds. `applied` means that everyone who gates is healthy. The pass never waits;
 * run it again when members change. Over an unchanged set it makes no write and one list per kind.
 */
export async function applySet(options: ApplySetOptions): Promise<SetResult> {
  const { client, membership, signal } = options;
  const concurrency = options.concurrency ?? 8;
  const waves = orderInWaves(options.objects.map((object) => withDriftMark(withMembership(object, membership))));
  const inView = (object: KubeObject) => options.only?.has(refKey(refOf(object))) ?? true;
  const whole = (results: MemberResult[]) => (options.only ? results : fillPending(waves, results));
  const objects = waves.flatMap((wave) => wave.objects);
  const rules = options.health ?? new HealthRules();
  const facts = await healthFacts(client, objects.filter(inView), signal);
  const context: MemberContext = {
    client,
    fieldManager: options.fieldManager,
    membership,
    adoption: options.adoption ?? 'AdoptIfUnowned',
    health: { of: (object) => rules.of(object, facts) },
    memo: options.memo ?? new AppliedMemo(),
    ...(signal ? { signal } : {}),
  };
  const kinds = new ServedKinds(client, objects, signal);
  await kinds.learn(objects.filter(inView), { trustSet: false });
  let read: LiveMembers = new Map();
  if (options.preflight) {
    const found = await preflight(objects.filter(inView), kinds, context, concurrency);
    if (found.refused.length > 0) return { state: 'failed', members: whole(found.refused), wave: 'preflight' };
    read = found.read;
  }

  const gates = new HealthGates(options.gate);
  const results: MemberResult[] = [];
  for (const wave of waves) {
    const members = wave.objects.filter(inView);
    if (members.length === 0) continue;
    const { ready, held } = gates.sort(members);
    // A definition applied in an earlier wave may have made a kind known.
    await kinds.learn(ready, { trustSet: true });
    const outcome = softened(await applyWave(ready, kinds, read, context, concurrency), results);
    results.push(...outcome);
    gates.note(wave, outcome);
    const state = stateOf(outcome);
    options.onWave?.(wave.label, state);
    if (state !== 'applied') return { state, wave: wave.label, members: whole(results) };
    if (held.length > 0) return { state: 'waiting', wave: gates.openWave!, members: whole(results) };
  }
  if (gates.openWave !== undefined) return { state: 'waiting', wave: gates.openWave, members: results };
  return { state: 'applied', members: results };
}

/** What health depends on besides the members, asked for only where a member makes it matter. */
async function healthFacts(
  client: Client,
  objects: readonly KubeObject[],
  signal: AbortSignal | undefined,
): Promise<HealthFacts> {
  if (!objects.some((object) => object.kind === 'PersistentVolumeClaim')) return {};
  const lateBindingClasses = new Set<string>();
  try {
    for await (const { metadata, volumeBindingMode } of client.list(StorageClass, { signal }))
      if (volumeBindingMode === 'WaitForFirstConsumer') lateBindingClasses.add(metadata.name!);
  } catch (error) {
    // Who may not see classes waits for claims to be bound.
    if (!isForbidden(error)) throw error;
  }
  return { lateBindingClasses };
}

/**
 * A server fault while something of the set is still starting is most likely that very thing missing (the backend of a webhook
 * or of an API): the member waits for it.
 */
function softened(outcome: readonly MemberResult[], earlier: readonly MemberResult[]): MemberResult[] {
  const starting = [...earlier, ...outcome].some((result) => result.health?.status === 'InProgress');
  return outcome.map((result) =>
    starting && result.action === 'failed' && isServerFault(result.error) ? { ...result, action: 'waiting' } : result,
  );
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
  const unreadable = new Map<string, unknown>();
  const live = await readLiveMembers(
    client,
    unread.map((object): Sought => ({ ref: refOf(object), kind: kinds.usable(object)! })),
    membership,
    { concurrency, signal, onUnreadable: (ref, error) => unreadable.set(refKey(ref), error) },
  );
  const become = async (object: KubeObject): Promise<MemberResult> => {
    const ref = refOf(object);
    const key = refKey(ref);
    const kind = kinds.usable(object);
    if (!kind) return kinds.refusal(object);
    if (unreadable.has(key)) return refusedMember(ref, unreadable.get(key));
    const present = live.get(key) ?? read.get(key);
    // Thousands of members are not held longer than needed.
    live.delete(key);
    read.delete(key);
    return await applyMember(object, kind, present, context);
  };
  return await inParallel(members, concurrency, async (object): Promise<MemberResult> => {
    const result = await become(object);
    // Between "established" and "served" there is a moment.
    return result.action === 'failed' && kinds.isDefinedBySet(object) && isUnknownKind(result.error)
      ? { ref: result.ref, action: 'waiting', message: 'its definition is not served yet' }
      : result;
  });
}

/** Whether the next wave may be tried. Whose health it waits for besides is the business of {@link HealthGates}. */
function stateOf(wave: readonly MemberResult[]): SetResult['state'] {
  if (wave.some((result) => result.action === 'failed')) return 'failed';
  const waits = wave.some(
    (result) => result.action === 'waiting' || (isFoundation(result.ref) && result.health?.status !== 'Current'),
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

/** The members a pass waits for, in words that go on after `waiting for`. */
export function waitingText(result: SetResult, limit = 3): string {
  const waiting = result.members.filter(
    (member) => member.action === 'waiting' || (member.health && member.health.status !== 'Current'),
  );
  const texts = waiting.map((member) =>
    [spokenText(member.ref), member.message ?? member.health?.message ?? []].flat().join(': '),
  );
  return firstOfMany(texts, { shown: limit });
}
