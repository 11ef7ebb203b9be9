import type { KubeObject } from '@slipway/kube';
import { expect, test } from 'vitest';

import { parseManifests } from './parse.ts';
import { handedOnBy, permissionsToUse } from './permissions.ts';

const rbac = 'rbac.authorization.k8s.io';

function object(apiVersion: string, kind: string, more: object = {}): KubeObject {
  return { apiVersion, kind, metadata: { name: 'it' }, ...more };
}

test('kinds that are used alike share a rule, by group; what is given already is in none', () => {
  const objects = [object('v1', 'Service'), object('apps/v1', 'Deployment'), object('v1', 'Endpoints')];
  const given = [
    { apiGroups: [''], resources: ['services'], verbs: ['get'] },
    { apiGroups: ['apps'], resources: ['*'], verbs: ['*'] },
  ];
  const uses = [
    { objects, verbs: ['get', 'patch'] },
    { objects: [object('v1', 'Secret'), object('v1', 'Service')], verbs: ['patch'] },
  ];
  expect(permissionsToUse(uses, given)).toEqual([
    { apiGroups: [''], resources: ['services', 'secrets'], verbs: ['patch'] },
    { apiGroups: [''], resources: ['endpoints'], verbs: ['get', 'patch'] },
  ]);
});

test('what is given for one object by its name is not given for all', () => {
  const given = [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['it'], verbs: ['get'] }];
  expect(permissionsToUse([{ objects: [object('v1', 'Secret')], verbs: ['get'] }], given)).toHaveLength(1);
});

test('a definition says how its kind is called', () => {
  const objects = parseManifests(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: geese.example.com }
spec: { group: example.com, scope: Namespaced, names: { kind: Goose, plural: geese }, versions: [] }
---
apiVersion: example.com/v1
kind: Goose
metadata: { name: grey }
`);
  const [, rule] = permissionsToUse([{ objects, verbs: ['get'] }]);
  expect(rule).toEqual({ apiGroups: ['example.com'], resources: ['geese'], verbs: ['get'] });
});

test('roles hand on their rules; one that gathers others, and one from elsewhere, take a right by name', () => {
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
  const bindingOf = (name: string) => object(`${rbac}/v1`, 'RoleBinding', { roleRef: { kind: 'ClusterRole', name } });
  const objects = [
    object(`${rbac}/v1`, 'ClusterRole', { rules }),
    object(`${rbac}/v1`, 'ClusterRole', { metadata: { name: 'all' }, aggregationRule: {} }),
    bindingOf('it'),
    bindingOf('view'),
    object('example.com/v1', 'Role', { rules: [{ note: 'no role of the API server' }] }),
  ];
  expect(handedOnBy(objects)).toEqual([
    ...rules,
    { apiGroups: [rbac], resources: ['clusterroles'], resourceNames: ['all'], verbs: ['escalate'] },
    { apiGroups: [rbac], resources: ['clusterroles'], resourceNames: ['view'], verbs: ['bind'] },
  ]);
});
