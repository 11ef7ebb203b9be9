import { expect, it } from 'vitest';
import type { ApiObject, Metadata } from '../object.ts';
import type { Resource } from '../resource.ts';
import { defaultStrategy } from './default-strategy.ts';
import { validateMetadata, validateMetadataUpdate } from './metadata.ts';

const resource = { namespaced: true, custom: false, strategy: defaultStrategy } as Resource;

function problems(metadata: Metadata, changes: Partial<Resource> = {}): string[] {
  return validateMetadata({ metadata: { name: 'x', namespace: 'ns', ...metadata } }, { ...resource, ...changes }).map(
    (error) => `${error.field}: ${error.detail}`,
  );
}

it('wants a name and a namespace where one belongs', () => {
  expect(problems({ name: '' })).toEqual(['metadata.name: Required value: name or generateName is required']);
  expect(problems({ generateName: 'a-' })).toEqual([]);
  expect(problems({}, { namespaced: false })).toEqual(['metadata.namespace: Forbidden: not allowed on this type']);
});

it('names the owner reference that lacks a uid, and the second controller', () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c1', uid: '' };
  expect(problems({ ownerReferences: [owner] })).toEqual([
    'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
  ]);
  const two = ['a', 'b'].map((uid, index) => ({ ...owner, name: `c${index + 1}`, uid, controller: true }));
  expect(problems({ ownerReferences: two })).toEqual([
    'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"ConfigMap","name":"c1","uid":"a","controller":true},{"apiVersion":"v1","kind":"ConfigMap","name":"c2","uid":"b","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for ConfigMap/c1 and ConfigMap/c2',
  ]);
});

it('refuses finalizers without a domain, but not on custom resources', () => {
  expect(problems({ finalizers: ['nodomain'] })).toEqual([
    'metadata.finalizers[0]: Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified',
  ]);
  expect(problems({ finalizers: ['nodomain'] }, { custom: true })).toEqual([]);
  expect(problems({ finalizers: ['foregroundDeletion', 'example.com/x'] })).toEqual([]);
});

it('lets a terminating object lose finalizers only', () => {
  const previous: ApiObject = {
    metadata: { name: 'x', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/f'] },
  };
  const next = (finalizers: string[]): ApiObject => ({ metadata: { ...previous.metadata, finalizers } });
  expect(validateMetadataUpdate(next([]), previous)).toEqual([]);
  expect(validateMetadataUpdate(next(['example.com/f', 'example.com/g']), previous)).toEqual([
    {
      reason: 'FieldValueForbidden',
      field: 'metadata.finalizers',
      detail:
        'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/g"}',
    },
  ]);
});

it('limits annotations to 256 KiB', () => {
  expect(problems({ annotations: { a: 'x'.repeat(256 * 1024) } })).toEqual([
    'metadata.annotations: Too long: may not be more than 262144 bytes',
  ]);
});
