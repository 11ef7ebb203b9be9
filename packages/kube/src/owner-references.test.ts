import { describe, expect, test } from 'vitest';

import type { KubeObject } from './object.ts';
import {
  controllerOf,
  isControlledBy,
  isOwnedBy,
  withController,
  withOwner,
  withoutOwner,
} from './owner-references.ts';

const object = (kind: string, name: string, namespace?: string): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind,
  metadata: { name, uid: `uid-${name}`, ...(namespace ? { namespace } : {}) },
});
const owner = object('Website', 'site', 'a');
const child = object('Thing', 'child', 'a');

describe('owner references', () => {
  test('set, find and remove the controller on a copy', () => {
    const owned = withController(child, owner);
    expect(owned.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'example.com/v1',
        kind: 'Website',
        name: 'site',
        uid: 'uid-site',
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    expect(child.metadata.ownerReferences).toBeUndefined();
    expect(isControlledBy(owned, owner)).toBe(true);
    expect(controllerOf(owned)?.name).toBe('site');
    expect(withController(owned, owner)).toEqual(owned);
    expect(withoutOwner(owned, owner)).toEqual(child);
  });

  test('a second controller is refused, a second owner is not', () => {
    const owned = withController(child, owner);
    const other = object('Website', 'other', 'a');
    expect(() => withController(owned, other)).toThrow('Thing child is controlled by Website site already');
    const both = withOwner(owned, other);
    expect(isOwnedBy(both, other)).toBe(true);
    expect(isControlledBy(both, other)).toBe(false);
  });

  test('a new incarnation of the owner takes the place of the old', () => {
    const old = { ...owner, metadata: { ...owner.metadata, uid: 'older' } };
    const owned = withController(withController(child, old), owner);
    expect(owned.metadata.ownerReferences?.map((r) => r.uid)).toEqual(['uid-site']);
  });

  test('an owner in another namespace is refused: the garbage collector would delete the object', () => {
    expect(() => withController(object('Thing', 'child', 'b'), owner)).toThrow('it is in namespace b');
    expect(() => withController(object('Thing', 'child'), owner)).toThrow('it is in no namespace');
    expect(withController(child, object('Cluster', 'all')).metadata.ownerReferences).toHaveLength(1);
  });

  test('an owner that is not stored yet is refused', () => {
    const unsaved = { ...owner, metadata: { name: 'site', namespace: 'a' } };
    expect(() => withController(child, unsaved)).toThrow('it has no uid');
  });
});
