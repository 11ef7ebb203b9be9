import { isNotFound, type Client, type DeepReadonly, type KubeObject } from '@slipway/kube';

import { mayPrune, mayRecreate, modeOf } from './annotations.ts';
import { adoptionRefusal, type AdoptionPolicy } from './apply-member.ts';
import { diffObjects, type FieldChange } from './diff.ts';
import { withDriftMark } from './drift-mark.ts';
import { compareRefs, refOf, refText, type ObjectRef } from './identity.ts';
import { inParallel } from './in-parallel.ts';
import { leftOver, type Inventory } from './inventory.ts';
import { keyOfRef } from './live-state.ts';
import { withMembership, type Membership } from './membership.ts';
import { shareRefusal, type PruneOptions } from './prune.ts';
import { isRefusedAsChange, refusalText } from './refusal.ts';
import { orderInWaves } from './waves.ts';

/** `unknown`: cannot be judged before something else of the set exists (its definition or its namespace). */
export type PlannedAction = 'create' | 'change' | 'recreate' | 'prune' | 'keep' | 'none' | 'unknown' | 'refused';

export interface PlannedMember {
  readonly ref: ObjectRef;
  readonly action: PlannedAction;
  readonly changes: readonly FieldChange[];
  readonly message?: string;
  /** What the server answered, for decisions that depend on it. */
  readonly error?: unknown;
}

export interface PlanOptions {
  readonly client: Client;
  readonly objects: readonly KubeObject[];
  readonly fieldManager: string;
  /** Absent: the objects are in no set, and are planned exactly as they are written. */
  readonly membership?: Membership;
  /** What the set has on the cluster now; whatever of it is not in `objects` would be pruned. */
  readonly inventory?: Inventory;
  /** Why an object that left the set would stay all the same, or `undefined` when it would go. */
  readonly keep?: PruneOptions['keep'];
  /** Nothing would be pruned when it is more than this share of the inventory (0 to 1). Default 1: no limit. */
  readonly maxShare?: number;
  /** Show as refused what this policy would not take. Default: not looked at. */
  readonly adoption?: AdoptionPolicy;
  /** Requests at a time. Default 8. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
}

/** What applying a set would do, from server-side dry runs. Writes nothing. */
export async function planSet(options: PlanOptions): Promise<PlannedMember[]> {
  const { membership } = options;
  const marked = membership
    ? options.objects.map((object) => withDriftMark(withMembership(object, membership)))
    : options.objects;
  const objects = orderInWaves(marked).flatMap((wave) => wave.objects);
  const concurrency = options.concurrency ?? 8;
  const members = await inParallel(objects, concurrency, (object) => planMember(object, options));
  const gone = leftOver(
    options.inventory ?? [],
    objects.map((object) => refOf(object)),
  );
  const refusal = shareRefusal(gone.length, { setSize: options.inventory?.length, maxShare: options.maxShare });
  const pruned = await inParallel(gone.sort(compareRefs), concurrency, async (entry): Promise<PlannedMember> => {
    const live = await readEntry(entry, options);
    if (!live) return { ref: entry, action: 'none', changes: [], message: 'is gone already' };
    if (entry.uid !== undefined && live.metadata.uid !== entry.uid)
      return { ref: entry, action: 'keep', changes: [], message: 'is not the object that was applied' };
    if (!mayPrune(live))
      return { ref: entry, action: 'keep', changes: [], message: 'is kept by its kind or annotation' };
    const why = options.keep?.(live) ?? refusal;
    if (why !== undefined) return { ref: entry, action: 'keep', changes: [], message: why };
    return { ref: entry, action: 'prune', changes: [] };
  });
  return [...members, ...pruned];
}

async function readEntry(ref: ObjectRef, options: PlanOptions): Promise<DeepReadonly<KubeObject> | undefined> {
  try {
    const kind = await options.client.resolveGroupKind(ref.group, ref.kind, { signal: options.signal });
    return await options.client.get(kind, keyOfRef(ref), { signal: options.signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function planMember(object: KubeObject, options: PlanOptions): Promise<PlannedMember> {
  const ref = refOf(object);
  const { client, membership, signal } = options;
  try {
    const kind = await client.resolve(object.apiVersion, object.kind, { signal });
    const live = await client.get(kind, keyOfRef(ref), { signal });
    const refusal =
      live && options.adoption && membership
        ? adoptionRefusal(live, { adoption: options.adoption, membership })
        : undefined;
    if (refusal) return { ref, action: 'refused', changes: [], message: refusal };
    if (live && modeOf(object) === 'EnsureExists')
      return { ref, action: 'none', changes: [], message: 'exists; only its existence is ensured' };
    const applied = await client.apply(object, {
      fieldManager: options.fieldManager,
      force: true,
      dryRun: true,
      signal,
    });
    if (!live) return { ref, action: 'create', changes: diffObjects(undefined, applied) };
    const changes = diffObjects(live, applied);
    return { ref, action: changes.length === 0 ? 'none' : 'change', changes };
  } catch (error) {
    signal?.throwIfAborted();
    if (isNotFound(error))
      return { ref, action: 'unknown', changes: [], message: `${refusalText(error)}: unknown until that exists` };
    if (mayRecreate(object) && (await isRefusedAsChange(error, object, client, options))) {
      return { ref, action: 'recreate', changes: [], message: refusalText(error) };
    }
    return { ref, action: 'refused', changes: [], message: refusalText(error), error };
  }
}

const signs: Readonly<Record<PlannedAction, string>> = {
  create: '+',
  change: '~',
  recreate: '±',
  prune: '-',
  keep: '=',
  none: ' ',
  unknown: '?',
  refused: '!',
};

/** A plan as people read it: one line a member that changes, its fields below, a summary at the end. */
export function planText(plan: readonly PlannedMember[]): string {
  const lines: string[] = [];
  for (const member of plan) {
    if (member.action === 'none') continue;
    lines.push(`${signs[member.action]} ${refText(member.ref)}${member.message ? `  (${member.message})` : ''}`);
    if (member.action !== 'change') continue;
    for (const change of member.changes)
      lines.push(`    ${change.path}: ${valueText(change.from)} → ${valueText(change.to)}`);
  }
  const counts = new Map<PlannedAction, number>();
  for (const { action } of plan) counts.set(action, (counts.get(action) ?? 0) + 1);
  const summary = (['create', 'change', 'recreate', 'prune', 'keep', 'unknown', 'refused'] as const)
    .filter((action) => counts.has(action))
    .map((action) => `${counts.get(action)} ${action === 'unknown' || action === 'refused' ? '' : 'to '}${action}`);
  const unchanged = counts.get('none') ?? 0;
  lines.push(
    summary.length === 0 ? `nothing to do (${unchanged} unchanged)` : `${summary.join(', ')}, ${unchanged} unchanged`,
  );
  return lines.join('\n');
}

function valueText(value: unknown): string {
  if (value === undefined) return '(none)';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
}
