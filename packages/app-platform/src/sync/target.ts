import type { KubeObject } from '@slipway/kube';
import { annotations, mayPrune, refKey, refOf, type ObjectRef } from '@slipway/manifests';

import type { HookType } from '../argo/application.ts';
import { argo, helm } from '../argo/words.ts';
import { optionsOf, type SyncOptions } from './sync-options.ts';

export type DeletePolicy = 'BeforeHookCreation' | 'HookSucceeded' | 'HookFailed';

/** One object a source wants on the cluster. */
export interface Target {
  readonly object: KubeObject;
  readonly ref: ObjectRef;
  readonly key: string;
  readonly wave: number;
  /** When it runs, if it is a hook; empty for what is there all the time. */
  readonly hooks: readonly HookType[];
  readonly deletePolicies: ReadonlySet<DeletePolicy>;
  /** It is written as a whole: fields of others go. */
  readonly replaces: boolean;
}

const argoHooks = new Set<string>(['PreSync', 'Sync', 'PostSync', 'SyncFail', 'PreDelete', 'PostDelete']);
/** As Argo CD maps them: it does not tell an installation from an upgrade. */
const helmHooks: Readonly<Record<string, HookType | undefined>> = {
  'pre-install': 'PreSync',
  'pre-upgrade': 'PreSync',
  'post-install': 'PostSync',
  'post-upgrade': 'PostSync',
  'pre-delete': 'PreDelete',
  'post-delete': 'PostDelete',
};
const helmPolicies: Readonly<Record<string, DeletePolicy | undefined>> = {
  'before-hook-creation': 'BeforeHookCreation',
  'hook-succeeded': 'HookSucceeded',
  'hook-failed': 'HookFailed',
};

/** Sees what an object is for; `undefined` for one that is never brought. */
export function targetOf(object: KubeObject, application: string, general: SyncOptions): Target | undefined {
  const hooks = hooksOf(object);
  if (hooks === undefined) return undefined;
  const ref = refOf(object);
  const options = optionsOf(object, general);
  const marked = withSetAnnotations(tracked(object, ref, application), options);
  return {
    object: marked,
    ref,
    key: refKey(ref),
    wave: waveOf(object),
    hooks,
    deletePolicies: deletePoliciesOf(object),
    replaces: options.get('Replace') === 'true',
  };
}

/** Who brought an object, in the words of Argo CD. */
export function trackingId(application: string, { group, kind, namespace, name }: ObjectRef): string {
  return `${application}:${group}/${kind}:${namespace}/${name}`;
}

function tracked(object: KubeObject, ref: ObjectRef, application: string): KubeObject {
  return annotated(object, { [argo.trackingId]: trackingId(application, ref) });
}

/** What Argo CD's options mean to a set of manifests. Kinds that a set keeps by itself are pruned by Argo CD like all others. */
function withSetAnnotations(object: KubeObject, options: SyncOptions): KubeObject {
  const stays =
    ['false', 'confirm'].includes(options.get('Prune') ?? '') ||
    object.metadata.annotations?.[helm.resourcePolicy] === 'keep';
  return annotated(object, {
    ...(stays ? { [annotations.prune]: 'disabled' } : mayPrune(object) ? {} : { [annotations.prune]: 'enabled' }),
    ...(options.get('Force') === 'true' ? { [annotations.recreate]: 'enabled' } : {}),
  });
}

export function annotated(object: KubeObject, more: Readonly<Record<string, string>>): KubeObject {
  if (Object.keys(more).length === 0) return object;
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...more } } };
}

/** No hook: an empty list. A hook for moments we do not have: `undefined`. */
function hooksOf(object: KubeObject): readonly HookType[] | undefined {
  const own = wordsOf(object, argo.hook);
  // One of Argo CD's own makes it ignore all of Helm's.
  const found = own
    ? own.filter((word): word is HookType => argoHooks.has(word))
    : wordsOf(object, helm.hook)?.flatMap((word) => helmHooks[word] ?? []);
  if (found === undefined) return [];
  return found.length === 0 ? undefined : [...new Set(found)];
}

/** Whether it runs when its Application is deleted. */
export function isDeletionHook({ hooks }: Target): boolean {
  return hooks.includes('PreDelete') || hooks.includes('PostDelete');
}

/** Whether it runs with a synchronization. */
export function isSyncHook({ hooks }: Target): boolean {
  return hooks.some((hook) => hook !== 'PreDelete' && hook !== 'PostDelete');
}

function deletePoliciesOf(object: KubeObject): ReadonlySet<DeletePolicy> {
  const known: readonly DeletePolicy[] = ['BeforeHookCreation', 'HookSucceeded', 'HookFailed'];
  const own = wordsOf(object, argo.hookDeletePolicy)?.flatMap((word) => known.filter((policy) => policy === word));
  const policies = own ?? wordsOf(object, helm.hookDeletePolicy)?.flatMap((word) => helmPolicies[word] ?? []);
  return new Set(policies && policies.length > 0 ? policies : ['BeforeHookCreation']);
}

function waveOf(object: KubeObject): number {
  const text = object.metadata.annotations?.[argo.syncWave] ?? object.metadata.annotations?.[helm.hookWeight] ?? '0';
  return /^[+-]?\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
}

function wordsOf(object: KubeObject, key: string): string[] | undefined {
  return object.metadata.annotations?.[key]
    ?.split(',')
    .map((word) => word.trim())
    .filter(Boolean);
}
