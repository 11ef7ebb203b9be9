import { annotations } from '@slipway/manifests';
import { expect, test } from 'vitest';

import { argo, helm } from '../argo/words.ts';
import { readSyncOptions } from './sync-options.ts';
import { targetOf } from './target.ts';

function target(marks: Record<string, string>, options: string[] = [], kind = 'ConfigMap') {
  const object = { apiVersion: 'v1', kind, metadata: { namespace: 'shop', name: 'a', annotations: marks } };
  return targetOf(object, 'shop', readSyncOptions(options));
}

test.each([
  [{}, []],
  [{ [argo.hook]: 'PreSync' }, ['PreSync']],
  [{ [argo.hook]: 'PreSync, PostSync' }, ['PreSync', 'PostSync']],
  [{ [helm.hook]: 'pre-install,pre-upgrade' }, ['PreSync']],
  [{ [helm.hook]: 'post-upgrade' }, ['PostSync']],
  [{ [helm.hook]: 'pre-delete' }, ['PreDelete']],
  [{ [argo.hook]: 'PostSync,PostDelete' }, ['PostSync', 'PostDelete']],
  // One of Argo CD's own makes it ignore Helm's.
  [{ [argo.hook]: 'SyncFail', [helm.hook]: 'pre-install' }, ['SyncFail']],
  // Moments we do not have: no part of a synchronization.
  [{ [argo.hook]: 'Skip' }, undefined],
  [{ [helm.hook]: 'test' }, undefined],
] as [Record<string, string>, string[] | undefined][])('hooks of %j are %j', (marks, hooks) => {
  expect(target(marks)?.hooks).toEqual(hooks);
});

test('waves and policies come from Argo CD, else from Helm', () => {
  expect(target({ [argo.syncWave]: '-3', [helm.hookWeight]: '7' })?.wave).toBe(-3);
  expect(target({ [helm.hook]: 'pre-install', [helm.hookWeight]: '7' })?.wave).toBe(7);
  expect(target({ [argo.syncWave]: 'soon' })?.wave).toBe(0);
  const policies = (marks: Record<string, string>) => [...target({ [argo.hook]: 'Sync', ...marks })!.deletePolicies];
  expect(policies({})).toEqual(['BeforeHookCreation']);
  expect(policies({ [argo.hookDeletePolicy]: 'HookSucceeded,HookFailed' })).toEqual(['HookSucceeded', 'HookFailed']);
  expect(policies({ [helm.hookDeletePolicy]: 'hook-succeeded' })).toEqual(['HookSucceeded']);
});

test('options of the object win over those of the Application', () => {
  const pruned = (marks: Record<string, string>, options: string[], kind?: string) =>
    target(marks, options, kind)!.object.metadata.annotations![annotations.prune];
  expect(pruned({}, [])).toBeUndefined();
  expect(pruned({}, ['Prune=false'])).toBe('disabled');
  expect(pruned({ [argo.syncOptions]: 'Prune=true' }, ['Prune=false'])).toBeUndefined();
  expect(pruned({ [helm.resourcePolicy]: 'keep' }, [])).toBe('disabled');
  // Argo CD prunes these like all others.
  expect(pruned({}, [], 'PersistentVolumeClaim')).toBe('enabled');
});

test('Replace writes an object as a whole; only Force may delete it and make it anew', () => {
  const recreated = (options: string[]) => target({}, options)!.object.metadata.annotations![annotations.recreate];
  expect(target({}, ['Replace=true'])!.replaces).toBe(true);
  expect(recreated(['Replace=true'])).toBeUndefined();
  expect(target({}, ['Force=true'])!.replaces).toBe(false);
  expect(recreated(['Force=true'])).toBe('enabled');
});

test('every object says which Application brought it', () => {
  expect(target({})!.object.metadata.annotations![argo.trackingId]).toBe('shop:/ConfigMap:shop/a');
});
