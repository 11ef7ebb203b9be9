import type { Client, DeepReadonly, Kind, KubeObject } from '@slipway/kube';

import { AppliedMemo } from './applied-memo.ts';
import { applyMember, refusalText, type AdoptionPolicy, type MemberContext } from './apply-member.ts';
import { withDriftMark } from './drift-mark.ts';
import { HealthRules } from './health-rules.ts';
import { refKey, refOf, refText, type ObjectRef } from './identity.ts';
import { inParallel } from './in-parallel.ts';
import { readLiveMembers, type Sought } from './live-state.ts';
import { withMembership, type Membership } from './membership.ts';
import type { MemberResult, SetResult } from './member-result.ts';
import { isAppliedButForOwners } from './owned-fields.ts';
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
  const context = {
    client,
    fieldManager: options.fieldManager,
    membership,
    adoption: options.adoption ?? ('AdoptIfUnowned' as const),
    health: options.health ?? new HealthRules(),
    memo: options.memo ?? new AppliedMemo(),
    signal,
  };

  const kinds = await resolveKinds(client, waves, signal);
  const defined = kindsDefinedBySet(waves);
  const inView = (object: KubeObject) => options.only?.has(refKey(refOf(object))) ?? true;
  const read: LiveMembers = new Map();
  if (options.preflight) {
    const objects = waves.flatMap((wave) => wave.objects).filter(inView);
    const refused = await preflight(objects, kinds, context, concurrency, read);
    if (refused.length > 0)
      return { state: 'failed', members: options.only ? refused : fillPending(waves, refused), wave: 'preflight' };
  }

  const gates = (ref: ObjectRef) => isFoundation(ref) || (options.gate?.(ref) ?? true);
  const results: MemberResult[] = [];
  for (const wave of waves) {
    const members = wave.objects.filter(inView);
    if (members.length === 0) continue;
    // A definition applied in an earlier wave may have made a kind known.
    await resolveMissing(client, members, kinds, signal, defined);
    const known = members.filter(
      (object) =>
        kinds.get(kindKey(object))?.kind !== undefined &&
        !scopeProblem(object, kinds.get(kindKey(object))!.kind!) &&
        !read.has(refKey(refOf(object))),
    );
    const forbidden = new Map<string, unknown>();
    const live = await readLiveMembers(
      client,
      known.map((object): Sought => ({ ref: refOf(object), kind: kinds.get(kindKey(object))!.kind! })),
      membership,
      { concurrency, signal, onForbidden: (ref, error) => forbidden.set(refKey(ref), error) },
    );
    const outcome = await inParallel(members, concurrency, async (object): Promise<MemberResult> => {
      const ref = refOf(object);
      const resolved = kinds.get(kindKey(object))!;
      if (!resolved.kind) return { ref, action: 'failed', message: resolved.problem };
      const problem = scopeProblem(object, resolved.kind);
      if (problem) return { ref, action: 'failed', message: problem };
      if (forbidden.has(refKey(ref)))
        return { ref, action: 'failed', message: refusalText(forbidden.get(refKey(ref))) };
      const present = live.get(refKey(ref)) ?? read.get(refKey(ref));
      read.delete(refKey(ref));
      const result = await applyMember(object, resolved.kind, present, context);
      // Between "established" and "served" there is a moment.
      return result.action === 'failed' &&
        defined.has(kindKey(object)) &&
        /could not find the requested resource/.test(result.message ?? '')
        ? { ref, action: 'waiting', message: 'its definition is not served yet' }
        : result;
    });
    results.push(...outcome);
    const state = stateOf(outcome, gates);
    options.onWave?.(wave.label, state);
    if (state !== 'applied')
      return { state, wave: wave.label, members: options.only ? results : fillPending(waves, results) };
  }
  return { state: 'applied', members: results };
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

interface ResolvedKind {
  readonly kind?: Kind;
  readonly problem?: string;
}

function kindKey(object: KubeObject): string {
  return `${object.apiVersion}/${object.kind}`;
}

async function resolveKinds(
  client: Client,
  waves: readonly Wave[],
  signal?: AbortSignal,
): Promise<Map<string, ResolvedKind>> {
  const kinds = new Map<string, ResolvedKind>();
  for (const wave of waves) await resolveMissing(client, wave.objects, kinds, signal);
  return kinds;
}

/** Kinds whose definitions are members themselves: known once those are applied, without asking discovery again. */
function kindsDefinedBySet(waves: readonly Wave[]): Map<string, Kind> {
  const kinds = new Map<string, Kind>();
  for (const object of waves.flatMap((wave) => wave.objects)) {
    if (object.kind !== 'CustomResourceDefinition') continue;
    const spec = object['spec'] as
      | { group?: string; scope?: string; names?: { kind?: string; plural?: string }; versions?: { name?: string }[] }
      | undefined;
    const { group, names } = spec ?? {};
    if (!group || !names?.kind || !names.plural) continue;
    for (const { name: version = '' } of spec?.versions ?? []) {
      const apiVersion = `${group}/${version}`;
      kinds.set(`${apiVersion}/${names.kind}`, {
        group,
        version,
        kind: names.kind,
        plural: names.plural,
        scope: spec?.scope === 'Cluster' ? 'Cluster' : 'Namespaced',
        apiVersion,
      });
    }
  }
  return kinds;
}

async function resolveMissing(
  client: Client,
  objects: readonly KubeObject[],
  kinds: Map<string, ResolvedKind>,
  signal?: AbortSignal,
  defined?: ReadonlyMap<string, Kind>,
): Promise<void> {
  const unknown = new Map(
    objects.filter((object) => !kinds.get(kindKey(object))?.kind).map((object) => [kindKey(object), object]),
  );
  for (const [key, { apiVersion, kind }] of unknown) {
    const known = defined?.get(key);
    if (known) {
      kinds.set(key, { kind: known });
      continue;
    }
    try {
      kinds.set(key, { kind: await client.resolve(apiVersion, kind, { signal }) });
    } catch (error) {
      if (signal?.aborted) throw error;
      kinds.set(key, {
        problem: `${refusalText(error)}; add its CustomResourceDefinition to the set or install it first`,
      });
    }
  }
}

function scopeProblem(object: KubeObject, kind: Kind): string | undefined {
  if (kind.scope === 'Namespaced' && !object.metadata.namespace)
    return 'metadata.namespace is required: the kind is namespaced';
  if (kind.scope === 'Cluster' && object.metadata.namespace)
    return 'metadata.namespace must not be set: the kind is cluster-scoped';
  return undefined;
}

/** Members as they are on the server, by `refKey`; `undefined` for one that is known not to exist. */
type LiveMembers = Map<string, DeepReadonly<KubeObject> | undefined>;

/**
 * Dry-runs what can be judged now: kinds the server knows, in namespaces that exist or are cluster-scoped. Members that are
 * as they should be need no judgement, so one change in a large set costs one dry run. What was read is left in `read`.
 */
async function preflight(
  objects: readonly KubeObject[],
  kinds: ReadonlyMap<string, ResolvedKind>,
  context: MemberContext,
  concurrency: number,
  read: LiveMembers,
): Promise<MemberResult[]> {
  const newNamespaces = new Set(
    objects.filter((object) => object.kind === 'Namespace').map((object) => object.metadata.name),
  );
  const refused: MemberResult[] = [];
  const judged = objects.filter((object) => {
    const kind = kinds.get(kindKey(object))?.kind;
    if (!kind || (object.metadata.namespace !== undefined && newNamespaces.has(object.metadata.namespace)))
      return false;
    const problem = scopeProblem(object, kind);
    if (problem) refused.push({ ref: refOf(object), action: 'failed', message: problem });
    return !problem;
  });
  const { client, fieldManager, memo, membership, signal } = context;
  const unreadable = new Set<string>();
  const live = await readLiveMembers(
    client,
    judged.map((object): Sought => ({ ref: refOf(object), kind: kinds.get(kindKey(object))!.kind! })),
    membership,
    // What may not be read is reported when it is its turn, with the rest of its wave applied.
    { concurrency, signal, onForbidden: (ref) => unreadable.add(refKey(ref)) },
  );
  await inParallel(judged, concurrency, async (object) => {
    const ref = refOf(object);
    const present = live.get(refKey(ref));
    if (!unreadable.has(refKey(ref))) read.set(refKey(ref), present);
    if (present && (memo.knows(present, object, fieldManager) || isAppliedButForOwners(object, present, fieldManager)))
      return;
    try {
      await client.apply(object, { fieldManager, force: true, dryRun: true, signal });
    } catch (error) {
      if (signal?.aborted) throw error;
      if (!isFinal(error)) return;
      refused.push({ ref, action: 'failed', message: refusalText(error) });
    }
  });
  return refused;
}

/** Refusals that a retry or a later wave will not mend. Immutable fields are judged when the member is applied; so is what cannot be tried. */
function isFinal(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return (code === 400 || code === 422) && !/immutable|does not support dry run/i.test((error as Error).message);
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
