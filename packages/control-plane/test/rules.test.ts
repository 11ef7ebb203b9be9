import { applyMergePatch, isInvalid, type KubeError, type KubeObject } from '@slipway/kube';
import { testCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';

const key = { namespace: 'default', name: 'demo' };

function mcp(spec: unknown, name = key.name): KubeObject {
  return { apiVersion: ManagedControlPlane.apiVersion, kind: 'ManagedControlPlane', metadata: { ...key, name }, spec };
}

const components = (apiServer: object) => ({ components: { apiServer } });
const gardener = (fields: object) => components({ type: 'Gardener', gardener: fields });

/** Each rule broken once: what was there, what a merge patch makes of it, and what the server says. */
const rules: readonly (readonly [message: string, before: object, change: object])[] = [
  [
    'desiredRegion is required once set',
    { components: {}, desiredRegion: { name: 'europe' } },
    { desiredRegion: null },
  ],
  [
    'RegionSpecification is immutable',
    { components: {}, desiredRegion: { name: 'europe' } },
    { desiredRegion: { name: 'asia' } },
  ],
  ['type is immutable', components({ type: 'Gardener' }), components({ type: 'GardenerDedicated' })],
  [
    'highAvailability is required once set',
    gardener({ highAvailability: { failureToleranceType: 'node' } }),
    gardener({ highAvailability: null } as never),
  ],
  [
    'highAvailability is immutable',
    gardener({ highAvailability: { failureToleranceType: 'node' } }),
    gardener({ highAvailability: { failureToleranceType: 'zone' } }),
  ],
  [
    'failureToleranceType is immutable',
    gardener({ highAvailability: { failureToleranceType: 'node' } }),
    gardener({ highAvailability: { failureToleranceType: 'zone' } }),
  ],
  ['region is immutable', gardener({ region: 'europe-west1' }), gardener({ region: 'europe-west3' })],
];

test.each(rules)('a change is refused with: %s', async (message, before, change) => {
  await using cluster = await testCluster({ kinds: [ManagedControlPlane] });
  await cluster.client.create(mcp(before));
  const refusal = await cluster.client
    .patch(ManagedControlPlane, key, { type: 'merge', body: { spec: change } })
    .catch((error: unknown) => error);
  expect(isInvalid(refusal)).toBe(true);
  expect((refusal as KubeError).message).toContain(message);
});

test('a name longer than 36 characters is refused', async () => {
  await using cluster = await testCluster({ kinds: [ManagedControlPlane] });
  await cluster.client.create(mcp({ components: {} }, 'a'.repeat(36)));
  await expect(cluster.client.create(mcp({ components: {} }, 'a'.repeat(37)))).rejects.toThrow(
    'name must not be longer than 36 characters',
  );
});

test('apiServer stays: taken out, its default comes back', async () => {
  await using cluster = await testCluster({ kinds: [ManagedControlPlane] });
  const made = await cluster.client.create(mcp(components({ type: 'GardenerDedicated', gardener: { region: 'x' } })));
  const without = applyMergePatch(made, { spec: { components: { apiServer: null } } }) as KubeObject;
  const updated = (await cluster.client.update(without)) as unknown as ManagedControlPlane;
  expect(updated.spec?.components.apiServer).toEqual({ type: 'GardenerDedicated' });
  await cluster.client.delete(ManagedControlPlane, key);
  await cluster.client.create(mcp(components({ type: 'Gardener' })));
  const removal = { type: 'merge', body: { spec: { components: { apiServer: null } } } } as const;
  await expect(cluster.client.patch(ManagedControlPlane, key, removal)).rejects.toThrow('type is immutable');
});

test('a region may be named later', async () => {
  await using cluster = await testCluster({ kinds: [ManagedControlPlane] });
  await cluster.client.create(mcp({ components: {} }));
  const body = { spec: { desiredRegion: { name: 'africa', direction: 'north' } } };
  const changed = await cluster.client.patch(ManagedControlPlane, key, { type: 'merge', body });
  expect(changed.spec?.desiredRegion).toEqual({ name: 'africa', direction: 'north' });
});

const wrongFields: readonly (readonly [field: string, spec: unknown])[] = [
  ['spec.components', {}],
  ['spec.components.apiServer.type', components({ type: 'Kind' })],
  [
    'spec.authorization.roleBindings[0].role',
    { components: {}, authorization: { roleBindings: [{ role: 'root', subjects: [] }] } },
  ],
  [
    'spec.authentication.identityProviders[0].name',
    {
      components: {},
      authentication: { identityProviders: [{ name: 'Corp1', issuerURL: 'u', clientID: 'c', usernameClaim: 's' }] },
    },
  ],
  ['spec.desiredRegion.name', { components: {}, desiredRegion: { name: 'atlantis' } }],
];

test.each(wrongFields)('%s that is wrong is refused by name', async (field, spec) => {
  await using cluster = await testCluster({ kinds: [ManagedControlPlane] });
  const refusal = await cluster.client.create(mcp(spec)).catch((error: unknown) => error);
  expect(isInvalid(refusal)).toBe(true);
  expect((refusal as KubeError).message).toContain(field);
});
