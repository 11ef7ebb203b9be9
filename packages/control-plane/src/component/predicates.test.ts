import type { CacheEvent, KubeObject, ObjectMeta } from '@slipway/kube';
import { expect, test } from 'vitest';

import { defaultComponentControllerPredicates, statusChanged } from './predicates.ts';

const base: ObjectMeta = { name: 'demo', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1 };

function object(metadata: ObjectMeta, status?: unknown): KubeObject {
  return { apiVersion: 'core.openmcp.cloud/v1alpha1', kind: 'APIServer', metadata, ...(status ? { status } : {}) };
}

function updated(from: Partial<ObjectMeta>, to: Partial<ObjectMeta>, statuses: [unknown?, unknown?] = []): CacheEvent {
  const old = object({ ...base, ...from }, statuses[0]);
  const now = object({ ...base, ...to, resourceVersion: '2' }, statuses[1]);
  const key = { namespace: 'default', name: 'demo' };
  return { type: 'updated', key, object: now, old, meta: now.metadata, oldMeta: old.metadata } as unknown as CacheEvent;
}

const passes = (event: CacheEvent): boolean =>
  defaultComponentControllerPredicates.every((predicate) => predicate(event));
const operation = (value: string) => ({ annotations: { 'openmcp.cloud/operation': value } });

const wakes: readonly (readonly [what: string, from: Partial<ObjectMeta>, to: Partial<ObjectMeta>])[] = [
  ["the resource's spec changes", {}, { generation: 2 }],
  ["the resource's labels change", {}, { labels: { 'openmcp.cloud/mcp-generation': '2' } }],
  ['an operation annotation with value reconcile was added to the resource', {}, operation('reconcile')],
  ['a deletion timestamp was added to the resource', {}, { deletionTimestamp: '2026-01-01T00:00:00Z', generation: 2 }],
  ['the operation annotation ignore was taken away', operation('ignore'), {}],
  ['a dependency finalizer went', { finalizers: ['dependency.openmcp.cloud/landscaper'] }, {}],
];

test.each(wakes)('Reacting to Changes: it reconciles when %s', (_what, from, to) => {
  expect(passes(updated(from, to))).toBe(true);
});

const sleeps: readonly (readonly [what: string, event: CacheEvent])[] = [
  ['only its status changed', updated({}, {}, [{}, { conditions: [] }])],
  ['somebody began to depend on it', updated({}, { finalizers: ['dependency.openmcp.cloud/landscaper'] })],
  ['another annotation changed', updated({}, { annotations: { note: 'x' } })],
  ['the operation annotation reconcile stayed', updated(operation('reconcile'), operation('reconcile'))],
  ['it is ignored', updated(operation('ignore'), { ...operation('ignore'), generation: 2 })],
  ['it becomes ignored', updated({}, { ...operation('ignore'), generation: 2 })],
];

test.each(sleeps)('Reacting to Changes: it does not reconcile when %s', (_what, event) => {
  expect(passes(event)).toBe(false);
});

test('a dependency is looked at again when its status changed', () => {
  expect(statusChanged(updated({}, {}, [{ a: 1 }, { a: 2 }]))).toBe(true);
  expect(statusChanged(updated({}, { generation: 2 }, [{ a: 1 }, { a: 1 }]))).toBe(false);
});
