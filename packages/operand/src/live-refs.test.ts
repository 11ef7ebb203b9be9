import type { KubeObject } from '@slipway/kube';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { activeOperandName, liveRefs, mergedManifest, saltedName } from './live-refs.ts';

const object = (apiVersion: string, kind: string, namespace: string, name: string): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, ...(namespace ? { namespace } : {}) },
});
const deployment = (name: string) => object('apps/v1', 'Deployment', 'test', name);
const configMap = (namespace: string, name: string) => object('v1', 'ConfigMap', namespace, name);
const nameOf = (...objects: KubeObject[]) => activeOperandName(liveRefs(objects));

describe('the name of an ActiveOperand', () => {
  test.each<[string, KubeObject[], string]>([
    ['none', [], 'sha256-4f53cda18c'],
    ['one Deployment', [deployment('platoon')], 'sha256-5989f51667'],
    ['two Deployments, in any order', [deployment('platoon'), deployment('militia')], 'sha256-f9ceba1976'],
    ['three Deployments', [deployment('legion'), deployment('militia'), deployment('platoon')], 'sha256-98458717a8'],
    ['one ConfigMap', [configMap('op-a', 'cm1')], 'sha256-dbf7c09e73'],
    ['two ConfigMaps', [configMap('op-a', 'cm1'), configMap('op-a', 'cm2')], 'sha256-d739fbc846'],
    [
      'cluster-scoped and namespaced members',
      [
        object('v1', 'Namespace', '', 'op-a'),
        configMap('op-a', 'cm1'),
        configMap('op-b', 'cm1'),
        object('rbac.authorization.k8s.io/v1', 'ClusterRole', '', 'op-role'),
      ],
      'sha256-30e6e6cc03',
    ],
  ])('%s', (_name, members, expected) => {
    expect(nameOf(...members)).toBe(expected);
  });

  test('does not depend on the API version of a member', () => {
    expect(nameOf(object('apps/v1beta2', 'Deployment', 'test', 'platoon'))).toBe(nameOf(deployment('platoon')));
  });

  test('names with characters Go escapes', () => {
    // Made with Go: the bytes hashed hold "a\\u003cb\\u003e\\u0026c".
    expect(nameOf(object('rbac.authorization.k8s.io/v1', 'ClusterRole', '', 'a<b>&c'))).toBe('sha256-deedaa9855');
  });

  test('is the same for every order of the members (property)', () => {
    const member = fc.tuple(
      fc.constantFrom('v1', 'apps/v1', 'example.com/v1'),
      fc.constantFrom('A', 'B'),
      fc.constantFrom('', 'n', 'é', '𐐷'),
      fc.string({ minLength: 1, maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(member, { maxLength: 8 }), fc.infiniteStream(fc.nat()), (rows, random) => {
        const objects = rows.map(([apiVersion, kind, namespace, name]) => object(apiVersion, kind, namespace, name));
        const shuffled = objects
          .map((item) => ({ item, at: random.next().value }))
          .sort((a, b) => a.at - b.at)
          .map(({ item }) => item);
        expect(nameOf(...shuffled)).toBe(nameOf(...objects));
      }),
    );
  });

  test('a salt makes it unique to one Operand', () => {
    expect(saltedName('sha256-4f53cda18c', '01234567-89ab-cdef-0123-456789abcdef')).toBe('sha256-4f53cda18c-01234567');
  });
});

test('postInstall objects replace steadyState objects of the same identity', () => {
  const first = { ...configMap('n', 'a'), data: { from: 'steady' } };
  const second = { ...configMap('n', 'a'), data: { from: 'post' } };
  expect(mergedManifest([first, configMap('n', 'b')], [second])).toEqual([second, configMap('n', 'b')]);
});
