import type { KubeObject } from '@slipway/kube';
import { testCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { Landscaper } from '../src/api/components.ts';
import { architecturePolicies } from '../src/admission/architecture-policy.ts';
import { webhooks } from '../src/admission/webhooks.ts';

function landscaper(version: string | undefined): KubeObject {
  const labels: Record<string, string> = version === undefined ? {} : { 'architecture.openmcp.cloud/version': version };
  const metadata = { namespace: 'default', name: 'demo', labels };
  return { apiVersion: Landscaper.apiVersion, kind: 'Landscaper', metadata, spec: {} };
}

const key = { namespace: 'default', name: 'demo' };
const relabel = (version: string | null) =>
  ({ type: 'merge', body: { metadata: { labels: { 'architecture.openmcp.cloud/version': version } } } }) as const;

test('the architecture of a component is v1 or v2 and stays as it is', async () => {
  await using cluster = await testCluster({ kinds: [Landscaper], objects: architecturePolicies });
  await cluster.eventually('the policy is in force', async () =>
    cluster.client.create(landscaper('v3'), { dryRun: true }).then(
      () => false,
      () => true,
    ),
  );
  await expect(cluster.client.create(landscaper('v3'))).rejects.toThrow('must be v1 or v2');
  await expect(cluster.client.create(landscaper(undefined))).rejects.toThrow('must be v1 or v2');
  await cluster.client.create(landscaper('v1'));
  await expect(cluster.client.patch(Landscaper, key, relabel('v2'))).rejects.toThrow('is immutable');
  await expect(cluster.client.patch(Landscaper, key, relabel(null))).rejects.toThrow('must be v1 or v2');
  await cluster.client.patch(Landscaper, key, { type: 'merge', body: { spec: { deployers: ['helm'] } } });
});

type Request = { operation: string; object: KubeObject; old?: KubeObject; name: string; user: { username: string } };

const mutating = webhooks.find((each) => each.type === 'mutating')!;
const validating = webhooks.find((each) => each.type === 'validating')!;
const mcp = (annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'core.openmcp.cloud/v1alpha1',
  kind: 'ManagedControlPlane',
  metadata: { namespace: 'default', name: 'demo', annotations },
});

async function verdict(request: Partial<Request>): Promise<string | undefined> {
  if (validating.type !== 'validating') throw new Error('no validating webhook');
  const full = { name: 'demo', user: { username: 'ann' }, object: mcp(), ...request };
  const said = await validating.validate(full as never, {} as never);
  return said?.denial?.message;
}

test('who makes a ManagedControlPlane is remembered, whatever they wrote themselves', async () => {
  if (mutating.type !== 'mutating') throw new Error('no mutating webhook');
  const object = mcp({ 'openmcp.cloud/created-by': 'somebody else' });
  await mutating.mutate({ operation: 'CREATE', object, name: 'demo', user: { username: 'ann' } } as never, {} as never);
  expect(object.metadata.annotations).toEqual({ 'openmcp.cloud/created-by': 'ann' });
  const later = mcp({ 'openmcp.cloud/created-by': 'ann' });
  await mutating.mutate(
    { operation: 'UPDATE', object: later, name: 'demo', user: { username: 'bob' } } as never,
    {} as never,
  );
  expect(later.metadata.annotations).toEqual({ 'openmcp.cloud/created-by': 'ann' });
});

test('who made it cannot be changed, added or removed afterwards', async () => {
  const by = (user: string) => mcp({ 'openmcp.cloud/created-by': user });
  const denied = 'annotation openmcp.cloud/created-by is immutable';
  expect(await verdict({ operation: 'UPDATE', old: by('ann'), object: by('bob') })).toBe(denied);
  expect(await verdict({ operation: 'UPDATE', old: by('ann'), object: mcp() })).toBe(denied);
  expect(await verdict({ operation: 'UPDATE', old: mcp(), object: by('bob') })).toBe(denied);
  expect(await verdict({ operation: 'UPDATE', old: by('ann'), object: by('ann') })).toBeUndefined();
});

test('a ManagedControlPlane is deleted only after a confirmation', async () => {
  const confirmed = (value: string) => mcp({ 'confirmation.openmcp.cloud/deletion': value });
  expect(await verdict({ operation: 'DELETE', object: mcp() })).toMatch(/annotate it with .*deletion=true first/);
  expect(await verdict({ operation: 'DELETE', object: confirmed('yes') })).toMatch(/ManagedControlPlane demo/);
  expect(await verdict({ operation: 'DELETE', object: confirmed('true') })).toBeUndefined();
  expect(await verdict({ operation: 'CREATE', object: mcp() })).toBeUndefined();
});
