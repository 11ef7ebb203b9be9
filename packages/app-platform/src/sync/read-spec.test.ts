import { expect, test } from 'vitest';

import type { Application } from '../argo/application.ts';
import { readOperation } from './read-operation.ts';
import { readSpec } from './read-spec.ts';

const source = { repoURL: 'https://git.example.com/shop.git', path: 'app' };
const spec = { destination: { server: 'https://kubernetes.default.svc', namespace: 'shop' }, source };
const read = (change: object, operation?: unknown) =>
  readSpec({ spec: { ...spec, ...change }, operation } as unknown as Application);

test('every field that is understood passes', () => {
  const helm = {
    releaseName: 'a',
    namespace: 'b',
    values: 'a: 1',
    valuesObject: { a: 1 },
    valueFiles: ['a.yaml'],
    ignoreMissingValueFiles: true,
    parameters: [{ name: 'a', value: '1', forceString: true }],
    fileParameters: [{ name: 'a', path: 'b' }],
    skipCrds: true,
    skipSchemaValidation: true,
    skipTests: true,
    version: 'v3',
    passCredentials: false,
    kubeVersion: '1.30.0',
    apiVersions: ['v1'],
  };
  const syncOptions = [
    'ApplyOutOfSyncOnly=true',
    'ClientSideApplyMigration=false',
    'CreateNamespace=true',
    'Delete=false',
    'FailOnSharedResource=true',
    'Force=true',
    'Prune=confirm',
    'PruneLast=true',
    'PrunePropagationPolicy=orphan',
    'Replace=true',
    'RespectIgnoreDifferences=true',
    'ServerSideApply=true',
    'SkipDryRunOnMissingResource=true',
    'Validate=true',
  ];
  const backoff = { duration: '5s', factor: 2, maxDuration: '3m' };
  const syncPolicy = {
    automated: { prune: true, selfHeal: true, allowEmpty: true, enabled: true },
    syncOptions,
    retry: { limit: 3, refresh: true, backoff },
    managedNamespaceMetadata: { labels: { a: 'b' }, annotations: { a: 'b' } },
  };
  const ignoreDifferences = [
    { group: 'apps', kind: '*', name: 'a', namespace: 'b', jsonPointers: ['/spec'], jqPathExpressions: ['.spec'] },
  ];
  const result = read({
    project: 'default',
    source: { ...source, targetRevision: 'main', name: 'shop', helm },
    syncPolicy,
    ignoreDifferences,
    revisionHistoryLimit: 3,
    info: [{ name: 'a', value: 'b' }],
  });
  expect(result.options.size).toBe(syncOptions.length);
  expect(result.operation).toEqual({});
});

test('of several sources, one may be there only for the values of others', () => {
  const values = { repoURL: source.repoURL, ref: 'values' };
  expect(read({ sources: [source, values] }).allSources).toEqual([source, values]);
});

test.each<[field: string, change: object]>([
  ['spec.project', { project: 'team-red' }],
  ['spec.sourceHydrator', { sourceHydrator: { drySource: {} } }],
  ['spec.madeUp', { madeUp: true }],
  ['spec.destination', { destination: { server: 'https://kubernetes.default.svc', name: 'in-cluster' } }],
  ['spec.destination', { destination: { server: 'https://elsewhere.example.com' } }],
  ['chart', { source: { ...source, chart: 'nginx' } }],
  ['ref', { source: { ...source, ref: 'values' } }],
  ['ref', { sources: [{ ...source, ref: '../values' }] }],
  ['ref', { sources: [source, { ...source, ref: 'values' }, { ...source, ref: 'values' }] }],
  ['path', { source: { repoURL: source.repoURL } }],
  ['repoURL', { source: { ...source, repoURL: 'git@example.com:shop.git' } }],
  ['source', { source: { ...source, kustomize: {} } }],
  ['source', { source: { ...source, plugin: { name: 'cdk' } } }],
  ['source', { source: { ...source, directory: { jsonnet: {} } } }],
  ['spec.source.helm.madeUp', { source: { ...source, helm: { madeUp: 1 } } }],
  ['helm.version', { source: { ...source, helm: { version: 'v2' } } }],
  ['helm.passCredentials', { source: { ...source, helm: { passCredentials: true } } }],
  ['spec.syncPolicy.automated.madeUp', { syncPolicy: { automated: { madeUp: true } } }],
  ["spec.syncPolicy.syncOptions: 'MadeUp'", { syncPolicy: { syncOptions: ['MadeUp=true'] } }],
  ["spec.syncPolicy.syncOptions: 'Validate=false'", { syncPolicy: { syncOptions: ['Validate=false'] } }],
  ["spec.syncPolicy.syncOptions: 'ServerSideApply=false'", { syncPolicy: { syncOptions: ['ServerSideApply=false'] } }],
  ["spec.syncPolicy.syncOptions: 'Prune=maybe'", { syncPolicy: { syncOptions: ['Prune=maybe'] } }],
  ['spec.ignoreDifferences[0].madeUp', { ignoreDifferences: [{ kind: 'Secret', madeUp: 1 }] }],
])('what is not understood is refused by its name: %s', (field, change) => {
  expect(() => read(change)).toThrow(expect.objectContaining({ code: 'InvalidSpec' }));
  expect(() => read(change)).toThrow(field);
});

test.each<[field: string, operation: unknown]>([
  ['operation.sync', {}],
  ['operation.madeUp', { sync: {}, madeUp: 1 }],
  ['operation.sync.dryRun', { sync: { dryRun: true } }],
  ['operation.sync.resources', { sync: { resources: [{ kind: 'Secret', name: 'a' }] } }],
  ['operation.sync.syncStrategy.apply', { sync: { syncStrategy: { apply: {} } } }],
  ['operation.sync.syncStrategy.hook.force', { sync: { syncStrategy: { hook: { force: true } } } }],
  ['operation.sync.manifests', { sync: { manifests: ['{}'] } }],
  ['operation.sync.source', { sync: { source } }],
  ["operation.sync.syncOptions: 'MadeUp'", { sync: { syncOptions: ['MadeUp'] } }],
])(
  'an operation that asks for something else than a synchronization is refused by its field: %s',
  (field, operation) => {
    expect(readOperation(operation).refused).toContain(field);
    // The Application itself goes on.
    expect(read({}, operation).operation.asked).toBeUndefined();
  },
);

test('an operation as argocd app sync writes it passes', () => {
  const operation = {
    initiatedBy: { username: 'ann' },
    sync: { prune: true, syncOptions: ['CreateNamespace=true'], syncStrategy: { hook: {} } },
    retry: { limit: 2 },
    info: [{ name: 'why', value: 'because' }],
  };
  expect(readOperation(operation)).toEqual({ asked: operation });
});
