import type { CacheEvent, Kind, KubeObject, ObjectMeta, OwnerReference } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { ownersOf } from './owner-mapping.ts';

const Website: Kind = {
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  plural: 'websites',
  scope: 'Namespaced',
  apiVersion: 'example.com/v1',
};

function reference(change: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion: 'example.com/v1', kind: 'Website', name: 'site', uid: 'u', controller: true, ...change };
}

function event(owners: OwnerReference[], before?: OwnerReference[], namespace: string | null = 'n'): CacheEvent {
  const metaWith = (ownerReferences: OwnerReference[]): ObjectMeta => ({
    name: 'owned',
    ...(namespace === null ? {} : { namespace }),
    ownerReferences,
  });
  const object = (metadata: ObjectMeta): KubeObject => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata });
  const meta = metaWith(owners);
  const base = { key: { name: 'owned' }, object: object(meta), meta, initial: false, tombstone: false };
  if (!before) return { ...base, type: 'added' };
  return { ...base, type: 'updated', old: object(metaWith(before)), oldMeta: metaWith(before) };
}

describe('ownersOf', () => {
  test('the controller owner, in the same namespace, whatever version it was written with', () => {
    const other = reference({ apiVersion: 'example.com/v1beta1' });
    expect(ownersOf(event([other]), Website)).toEqual([{ namespace: 'n', name: 'site' }]);
  });

  test.each([
    ['an owner that does not control', reference({ controller: false })],
    ['another kind', reference({ kind: 'Blog' })],
    ['another group', reference({ apiVersion: 'other.com/v1' })],
    ['the core group', reference({ apiVersion: 'v1' })],
  ])('not %s', (_title, owner) => {
    expect(ownersOf(event([owner]), Website)).toEqual([]);
  });

  test('a cluster-scoped owner has no namespace', () => {
    expect(ownersOf(event([reference()]), { ...Website, scope: 'Cluster' })).toEqual([{ name: 'site' }]);
  });

  test('a namespaced owner of a cluster-scoped object cannot be', () => {
    expect(ownersOf(event([reference()], undefined, null), Website)).toEqual([]);
  });

  test('an object that changed hands concerns both owners', () => {
    const changed = event([reference({ name: 'new' })], [reference({ name: 'old' })]);
    expect(ownersOf(changed, Website).map(({ name }) => name)).toEqual(['new', 'old']);
  });
});
