import { expect, it } from 'vitest';
import { builtinResources } from '../schema/builtin-resources.ts';
import type { ApiObject } from '../object.ts';
import { columnsOf, strategyOf } from './strategy-of.ts';

const rows = builtinResources().map((row) => [`${row.group}/${row.version} ${row.kind}`, row] as const);

it.each(rows)('%s has a cell for every column, even on an empty object', (_name, row) => {
  const strategy = strategyOf(row.group, row.version, row.kind);
  const object: ApiObject = {
    apiVersion: row.group ? `${row.group}/${row.version}` : row.version,
    kind: row.kind,
    metadata: { name: 'x', creationTimestamp: '2026-01-01T00:00:00Z' },
  };
  expect(strategy.cells(object, Date.parse('2026-01-01T00:00:05Z'))).toHaveLength(columnsOf(row).length);
});

it.each(rows)('%s survives defaults twice, with the same result', (_name, row) => {
  const strategy = strategyOf(row.group, row.version, row.kind);
  const object: ApiObject = { apiVersion: 'v1', kind: row.kind, metadata: { name: 'x' } };
  strategy.applyDefaults(object);
  const once = structuredClone(object);
  strategy.applyDefaults(object);
  expect(object).toEqual(once);
});

it.each([
  [
    '',
    'ConfigMap',
    { unconditionalUpdate: true, createOnUpdate: false, deleteReturnsObject: false, hasGeneration: false },
  ],
  ['', 'Pod', { deleteReturnsObject: true, hasGeneration: true, statusField: true }],
  ['', 'Service', { createOnUpdate: true, deleteReturnsObject: true, hasGeneration: false }],
  ['apps', 'Deployment', { unconditionalUpdate: true, hasGeneration: true, defaultPropagation: 'Background' }],
  ['batch', 'Job', { hasGeneration: true, defaultPropagation: 'Orphan' }],
  ['coordination.k8s.io', 'Lease', { unconditionalUpdate: false, createOnUpdate: true }],
  ['policy', 'PodDisruptionBudget', { unconditionalUpdate: false, hasGeneration: true }],
  ['rbac.authorization.k8s.io', 'ClusterRole', { createOnUpdate: true, deleteReturnsObject: false }],
  ['storage.k8s.io', 'StorageClass', { deleteReturnsObject: true }],
])('%s %s writes and deletes as the real server does', (group, kind, expected) => {
  expect(strategyOf(group, 'v1', kind)).toMatchObject(expected);
});
