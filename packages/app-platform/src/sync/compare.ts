import { isNotFound, isUnknownKind, type DeepReadonly, type Kind, type KubeObject } from '@slipway/kube';
import {
  diffObjects,
  groupOf,
  inParallel,
  isAppliedAlready,
  isMember,
  keyOfRef,
  leftOver,
  mayPrune,
  readLiveMembers,
  refKey,
  refText,
  versionOf,
  withMembership,
  type ObjectRef,
  type Sought,
} from '@slipway/manifests';

import type { ResourceStatus, SyncCode } from '../argo/application.ts';
import { argo } from '../argo/words.ts';
import { argoHealth, worstHealth, type ArgoHealth } from './health.ts';
import { IgnoredDifferences } from './ignored-differences.ts';
import { attemptOf, namedHooks } from './operation/attempt.ts';
import type { Targets } from './read-targets.ts';
import { fieldManager, type SyncRun } from './run.ts';
import { trackingId, type Target } from './target.ts';

/** How the cluster differs from what the sources want. */
export interface Comparison {
  /** What is to be there, with the fields that are others' business as they are. */
  readonly objects: readonly Target[];
  readonly hooks: readonly Target[];
  /** Of the targets, by their key. */
  readonly live: ReadonlyMap<string, DeepReadonly<KubeObject>>;
  /** Keys of targets that are missing or different. */
  readonly different: ReadonlySet<string>;
  /** What we brought and the sources do not want any more. */
  readonly extra: readonly ExtraObject[];
  /** Objects that belong to another Application. */
  readonly shared: readonly string[];
  readonly sync: SyncCode;
  readonly health: ReturnType<typeof worstHealth>;
  readonly resources: readonly ResourceStatus[];
}

export interface ExtraObject {
  readonly ref: ObjectRef;
  readonly mayGo: boolean;
  readonly hook: boolean;
  /** It says itself that its being there is no difference. */
  readonly isIgnored: boolean;
}

const atATime = 8;

/** Compares, without writing anything. */
export async function compare(run: SyncRun, targets: Targets): Promise<Comparison> {
  const { context, client, membership } = run;
  const { signal } = context;
  const kinds = await kindsOf(run, targets.objects);
  const sought = targets.objects.flatMap(({ ref, object }): Sought[] => {
    const kind = kinds.get(kindKey(object));
    return kind ? [{ ref, kind }] : [];
  });
  const live = await readLiveMembers(client, sought, membership, {
    concurrency: atATime,
    signal,
    // Whoever cannot be read cannot be written either; the synchronization says so.
    onUnreadable: () => undefined,
  });
  const ignored = new IgnoredDifferences(targets.aim.spec.ignoreDifferences ?? []);
  const objects = targets.objects.map((target) => {
    const present = live.get(target.key);
    return present ? { ...target, object: ignored.respecting(target.object, target.ref, present) } : target;
  });
  const shared = objects.filter(({ key, ref }) => belongsToOther(live.get(key), run.name, ref));
  const different = new Set<string>();
  await inParallel(objects, atATime, async (target) => {
    if (await isDifferent(run, target, live.get(target.key))) different.add(target.key);
  });
  const hooks = namedHooks(targets.hooks, attemptOf(run.application.status?.operationState));
  const extra = await extraObjects(run, [...objects, ...hooks]);
  const healths = objects.map(({ key }) => {
    const present = live.get(key);
    return present ? argoHealth(present) : ({ status: 'Missing' } as const);
  });
  return {
    objects,
    hooks,
    live,
    different,
    extra,
    shared: shared.map(({ ref }) => refText(ref)),
    sync: different.size === 0 && extra.every(({ hook, isIgnored }) => hook || isIgnored) ? 'Synced' : 'OutOfSync',
    health: worstHealth(healths.filter((health): health is ArgoHealth => health !== undefined)),
    resources: [
      ...objects.map((target, index) =>
        resourceOf(target, {
          status: different.has(target.key) ? 'OutOfSync' : 'Synced',
          health: healths[index],
        }),
      ),
      ...hooks.map(hookResource),
      ...extra.map(({ ref, hook }) =>
        resourceOf({ ref }, hook ? { hook } : { status: 'OutOfSync', requiresPruning: true }),
      ),
    ].sort((a, b) => compareTexts(resourceText(a), resourceText(b))),
  };
}

async function isDifferent(
  { client, context, membership, memory: { memo } }: SyncRun,
  { object }: Target,
  live: DeepReadonly<KubeObject> | undefined,
): Promise<boolean> {
  if (!live || live.metadata.deletionTimestamp !== undefined) return true;
  const config = withMembership(object, membership);
  if (isAppliedAlready(config, live, fieldManager) || memo.knows(live, config, fieldManager)) return false;
  try {
    // The server normalises values; only it can say whether something would change.
    const applied = await client.apply(config, { fieldManager, force: true, dryRun: true, signal: context.signal });
    if (diffObjects(live, applied).length > 0) return true;
    memo.remember(live, config, fieldManager);
    return false;
  } catch (error) {
    context.signal.throwIfAborted();
    context.log.debug('an object cannot be compared', { object: refText(objectRef(object)), error });
    return true;
  }
}

/** What was brought before and is not wanted any more, as far as it is still there and still ours. */
async function extraObjects(run: SyncRun, wanted: readonly Target[]): Promise<ExtraObject[]> {
  const { context, application } = run;
  const known = (application.status?.resources ?? []).map((resource) => ({
    ...resourceRef(resource),
    hook: resource.hook ?? false,
  }));
  const left = leftOver(
    known,
    wanted.map(({ ref }) => ref),
  ) as (typeof known)[number][];
  const found = await inParallel(left, atATime, async ({ hook, ...ref }): Promise<ExtraObject[]> => {
    const live = await readRef(run, ref);
    if (!live || !isOurs(live, run, ref)) return [];
    context.signal.throwIfAborted();
    const compared = live.metadata.annotations?.[argo.compareOptions]?.split(',').map((word) => word.trim()) ?? [];
    return [{ ref, mayGo: mayPrune(live), hook, isIgnored: compared.includes('IgnoreExtraneous') }];
  });
  return found.flat();
}

export async function readRef({ client, context }: SyncRun, ref: ObjectRef): Promise<KubeObject | undefined> {
  const { signal } = context;
  try {
    const kind = await client.resolveGroupKind(ref.group, ref.kind, { signal });
    const live = await client.get(kind, keyOfRef(ref), { signal });
    return live && { ...live, apiVersion: kind.apiVersion, kind: kind.kind };
  } catch (error) {
    if (isNotFound(error) || isUnknownKind(error)) return undefined;
    throw error;
  }
}

/** Whether an object came with this Application: brought by us, or by Argo CD before us. */
export function isOurs(
  live: DeepReadonly<KubeObject>,
  run: Pick<SyncRun, 'membership' | 'name'>,
  ref: ObjectRef,
): boolean {
  const { annotations = {}, labels = {} } = live.metadata;
  const tracking = annotations[argo.trackingId];
  if (tracking !== undefined) return tracking === trackingId(run.name, ref);
  return isMember(live, run.membership) || labels[argo.instance] === run.name;
}

function belongsToOther(live: DeepReadonly<KubeObject> | undefined, name: string, ref: ObjectRef): boolean {
  const tracking = live?.metadata.annotations?.[argo.trackingId];
  return tracking !== undefined && tracking !== trackingId(name, ref) && tracking.includes(':');
}

async function kindsOf({ client, context }: SyncRun, targets: readonly Target[]): Promise<ReadonlyMap<string, Kind>> {
  const kinds = new Map<string, Kind>();
  const asked = new Map(targets.map(({ object }) => [kindKey(object), object]));
  for (const [key, { apiVersion, kind }] of asked) {
    try {
      kinds.set(key, await client.resolve(apiVersion, kind, { signal: context.signal }));
    } catch (error) {
      if (!isUnknownKind(error)) throw error;
    }
  }
  return kinds;
}

function kindKey({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): string {
  return `${apiVersion}/${kind}`;
}

function objectRef(object: KubeObject): ObjectRef {
  const { namespace = '', name = '' } = object.metadata;
  return { group: groupOf(object.apiVersion), kind: object.kind, namespace, name };
}

function resourceOf(
  { ref, object, wave = 0 }: { readonly ref: ObjectRef; readonly object?: KubeObject; readonly wave?: number },
  rest: { status?: SyncCode; health?: ArgoHealth | undefined; hook?: boolean; requiresPruning?: boolean },
): ResourceStatus {
  const { health, ...more } = rest;
  return {
    ...(ref.group ? { group: ref.group } : {}),
    ...(object ? { version: versionOf(object.apiVersion) } : {}),
    kind: ref.kind,
    ...(ref.namespace ? { namespace: ref.namespace } : {}),
    name: ref.name,
    ...(wave === 0 ? {} : { syncWave: wave }),
    ...more,
    ...(health ? { health: { ...health } } : {}),
  };
}

/** How a hook is listed: as something that is ours and no part of the comparison. */
export function hookResource(hook: Target): ResourceStatus {
  return resourceOf(hook, { hook: true });
}

/** The object a line of `status.resources` is about. */
export function resourceRef({ group = '', kind, namespace = '', name }: ResourceStatus): ObjectRef {
  return { group, kind, namespace, name };
}

function resourceText(resource: ResourceStatus): string {
  return refKey(resourceRef(resource));
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
