import { ConfigMap, defineKind, Deployment, Secret, Service, Type } from '@slipway/kube';
import { expect, test } from 'vitest';

import { controller } from './controller.ts';
import { permissionsOf } from './permissions.ts';

const Boat = defineKind({
  group: 'sea.example.org',
  version: 'v1',
  kind: 'Boat',
  scope: 'Namespaced',
  spec: Type.Object({}),
  status: Type.Object({}),
});
const Knot = defineKind({ group: 'sea.example.org', version: 'v1', kind: 'Knot', scope: 'Namespaced' });
const reconcile = () => undefined;

test('what is declared is read, what is owned is applied, the own status is written', () => {
  const boats = controller({
    name: 'boat',
    for: Boat,
    owns: [Deployment, { kind: Service }],
    watches: [{ kind: Secret, map: () => [] }],
    reads: [ConfigMap],
    reconcile,
  });
  expect(permissionsOf([boats])).toEqual([
    { apiGroups: ['sea.example.org'], resources: ['boats'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['sea.example.org'], resources: ['boats/status'], verbs: ['patch'] },
    { apiGroups: ['sea.example.org'], resources: ['boats/finalizers'], verbs: ['update'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
    { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
    { apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: ['get', 'list', 'watch'] },
  ]);
});

test('a clean-up puts finalizers on objects, and a kind without status has none to write', () => {
  const knots = controller({
    name: 'knot',
    for: Knot,
    finalize: { finalizer: 'sea.example.org/knot', run: () => undefined },
    reconcile,
  });
  expect(permissionsOf([knots])).toEqual([
    { apiGroups: ['sea.example.org'], resources: ['knots'], verbs: ['get', 'list', 'watch', 'patch'] },
  ]);
});

test('two controllers that need the same get one rule, and what no declaration shows is added', () => {
  const one = controller({ name: 'one', for: Knot, owns: [ConfigMap], reconcile });
  const two = controller({ name: 'two', for: Knot, reads: [ConfigMap], reconcile });
  const also = { apiGroups: [''], resources: ['configmaps'], verbs: ['delete'] };
  const rules = permissionsOf([one, two], [also]);
  expect(rules.filter(({ resources }) => resources?.includes('configmaps'))).toEqual([
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
    also,
  ]);
});

test('what a controller does on another cluster is no permission on this one', () => {
  const far = controller({ name: 'far', for: Knot, cluster: 'workload', reconcile });
  const near = controller({ name: 'near', for: Knot, reads: [{ kind: Secret, cluster: 'workload' }], reconcile });
  expect(permissionsOf([far])).toEqual([]);
  expect(permissionsOf([near]).flatMap(({ resources }) => resources)).toEqual(['knots']);
});
