import { expect, it } from 'vitest';
import type { ApiObject } from '../object.ts';
import type { StrategyContext } from '../resource.ts';
import { clusterRoleBindingStrategy, roleBindingStrategy, roleStrategy } from './rbac.ts';

const context = {} as StrategyContext;
const texts = (errors: { field: string; detail: string }[]): string[] =>
  errors.map((error) => `${error.field}: ${error.detail}`);

function binding(name: string): ApiObject {
  return {
    kind: 'RoleBinding',
    metadata: { name: 'rb' },
    subjects: [
      { kind: 'User', name: 'alice' },
      { kind: 'ServiceAccount', name: 'robot', namespace: 'n' },
    ],
    roleRef: { kind: 'Role', name },
  };
}

it('fills in the group of people and roles', () => {
  const object = binding('r');
  roleBindingStrategy.applyDefaults(object);
  expect(object).toMatchObject({
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io' }, { kind: 'ServiceAccount' }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io' },
  });
  expect(object['subjects']).not.toHaveProperty([1, 'apiGroup']);
  expect(roleBindingStrategy.validate(object, context)).toEqual([]);
});

it('never lets a binding point to another role', () => {
  const [before, next] = [binding('r'), binding('zzz')];
  for (const object of [before, next]) roleBindingStrategy.applyDefaults(object);
  expect(texts(roleBindingStrategy.validateUpdate(next, before, context))).toEqual([
    'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"zzz"}: cannot change roleRef',
  ]);
});

it('wants verbs in rules, and a cluster role in a cluster role binding', () => {
  const role = { metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['pods'] }] };
  expect(texts(roleStrategy.validate(role, context))).toEqual([
    'rules[0].verbs: Required value: verbs must contain at least one value',
  ]);
  const object = binding('r');
  clusterRoleBindingStrategy.applyDefaults(object);
  expect(texts(clusterRoleBindingStrategy.validate(object, context))).toEqual([
    'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
  ]);
});
