import type { KubeObject } from '@slipway/kube';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { annotations } from './annotations.ts';
import { refOf, refText } from './identity.ts';
import { ManifestError } from './manifest-error.ts';
import { orderInWaves } from './waves.ts';

function object(
  apiVersion: string,
  kind: string,
  name: string,
  extra: { namespace?: string; annotations?: Record<string, string>; spec?: unknown } = {},
): KubeObject {
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(extra.namespace ? { namespace: extra.namespace } : {}),
      ...(extra.annotations ? { annotations: extra.annotations } : {}),
    },
    ...(extra.spec === undefined ? {} : { spec: extra.spec }),
  };
}

const names = (objects: readonly KubeObject[]) =>
  orderInWaves(objects).map((wave) => wave.objects.map((item) => item.metadata.name));

describe('orderInWaves', () => {
  test('what others need comes first', () => {
    const set = [
      object('example.com/v1', 'Widget', 'widget', { namespace: 'ns' }),
      object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'hook'),
      object('apps/v1', 'Deployment', 'app', { namespace: 'ns' }),
      object('v1', 'Service', 'svc', { namespace: 'ns' }),
      object('v1', 'ConfigMap', 'config', { namespace: 'ns' }),
      object('rbac.authorization.k8s.io/v1', 'RoleBinding', 'binding', { namespace: 'ns' }),
      object('rbac.authorization.k8s.io/v1', 'Role', 'role', { namespace: 'ns' }),
      object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'crd', {
        spec: { group: 'example.com', names: { kind: 'Widget' } },
      }),
      object('v1', 'Namespace', 'ns'),
    ];
    expect(names(set)).toEqual([
      ['ns'],
      ['crd'],
      ['role'],
      ['binding'],
      ['config'],
      ['svc'],
      ['app'],
      ['hook'],
      ['widget'],
    ]);
  });

  test('the order inside a wave does not depend on the order of the list', () => {
    const set = ['c', 'a', 'b'].map((name) => object('v1', 'ConfigMap', name, { namespace: 'ns' }));
    expect(names(set)).toEqual(names([...set].reverse()));
  });

  test('the wave annotation overrides the order by kind', () => {
    const set = [
      object('v1', 'ConfigMap', 'late', { annotations: { [annotations.wave]: '500' } }),
      object('apps/v1', 'Deployment', 'app'),
    ];
    expect(names(set)).toEqual([['app'], ['late']]);
  });

  test('a wave that is no number is an error that names the annotation', () => {
    const set = [object('v1', 'ConfigMap', 'a', { annotations: { [annotations.wave]: 'soon' } })];
    expect(() => orderInWaves(set)).toThrow(
      /ConfigMap a, metadata\.annotations\[manifests\.slipway\.dev\/wave\]: must be a whole number, not "soon"/,
    );
  });

  test('depends-on splits a wave and moves across waves', () => {
    const set = [
      object('v1', 'ConfigMap', 'b', { annotations: { [annotations.dependsOn]: 'core/ConfigMap/a' } }),
      object('v1', 'ConfigMap', 'a'),
      object('v1', 'ConfigMap', 'c', { annotations: { [annotations.dependsOn]: 'apps/Deployment/x/app' } }),
      object('apps/v1', 'Deployment', 'app', { namespace: 'x' }),
    ];
    expect(names(set)).toEqual([['a'], ['b'], ['app'], ['c']]);
  });

  test('a cycle is shown', () => {
    const set = [
      object('v1', 'ConfigMap', 'a', { annotations: { [annotations.dependsOn]: 'core/ConfigMap/b' } }),
      object('v1', 'ConfigMap', 'b', { annotations: { [annotations.dependsOn]: 'core/ConfigMap/c' } }),
      object('v1', 'ConfigMap', 'c', { annotations: { [annotations.dependsOn]: 'core/ConfigMap/a' } }),
    ];
    expect(() => orderInWaves(set)).toThrow('ConfigMap a → ConfigMap b → ConfigMap c → ConfigMap a');
  });

  test('a dependency that is not in the set is an error, unless the set is a remainder', () => {
    const set = [object('v1', 'ConfigMap', 'a', { annotations: { [annotations.dependsOn]: 'core/ConfigMap/b' } })];
    expect(() => orderInWaves(set)).toThrow(/depends on ConfigMap b, which is not in the set/);
    expect(orderInWaves(set, { partial: true })).toHaveLength(1);
  });

  test('a duplicate is an error even under another version', () => {
    expect(() =>
      orderInWaves([object('apps/v1', 'Deployment', 'a'), object('apps/v1beta2', 'Deployment', 'a')]),
    ).toThrow(ManifestError);
  });

  test('every object is placed once and after what it depends on (property)', () => {
    const kinds = ['v1/ConfigMap', 'apps/v1/Deployment', 'example.com/v1/Widget'];
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            kind: fc.constantFrom(...kinds),
            deps: fc.array(fc.nat(20), { maxLength: 3 }),
            wave: fc.option(fc.integer({ min: -5, max: 5 }), { nil: undefined }),
          }),
          { maxLength: 15 },
        ),
        (rows) => {
          const set = rows.map(({ kind, deps, wave }, i) => {
            const slash = kind.lastIndexOf('/');
            // Only earlier objects, so that there is no cycle.
            const targets = deps.filter((d) => d < i).map((d) => dependency(rows[d]!.kind, `o${d}`));
            return object(kind.slice(0, slash), kind.slice(slash + 1), `o${i}`, {
              annotations: {
                ...(targets.length ? { [annotations.dependsOn]: targets.join(',') } : {}),
                ...(wave === undefined ? {} : { [annotations.wave]: String(wave) }),
              },
            });
          });
          const order = orderInWaves(set).flatMap((wave, position) => wave.objects.map((item) => ({ item, position })));
          expect(order).toHaveLength(set.length);
          const at = new Map(order.map(({ item, position }) => [refText(refOf(item)), position]));
          for (const [i, { deps }] of rows.entries()) {
            for (const d of deps.filter((dep) => dep < i))
              expect(at.get(refText(refOf(set[i]!)))!).toBeGreaterThan(at.get(refText(refOf(set[d]!)))!);
          }
        },
      ),
    );
  });
});

function dependency(kind: string, name: string): string {
  const parts = kind.split('/');
  return `${parts.length === 3 ? parts[0] : 'core'}/${parts.at(-1)}/${name}`;
}
