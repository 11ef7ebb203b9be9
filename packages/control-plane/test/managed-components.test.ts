import { type KubeObject, minutes } from '@slipway/kube';
import { onReference, skipped, testCluster, type TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { ManagedComponent } from '../src/api/managed-component.ts';
import { catalogueOf } from '../src/cloud-orchestrator/catalogue.ts';
import { managedComponentController, ReleaseChannel } from '../src/cloud-orchestrator/managed-components.ts';
import { onboardingCluster } from '../src/core-cluster.ts';

type Channel = Readonly<Record<string, readonly string[]>>;

async function channel({ client }: TestCluster, name: string, content: Channel): Promise<void> {
  const { apiVersion, kind } = ReleaseChannel;
  await client.apply({ apiVersion, kind, metadata: { name }, spec: {} } as KubeObject);
  const components = Object.entries(content).map(([component, versions]) => ({
    name: component,
    versions: versions.map((version) => ({ version, helmChart: 'somewhere' })),
  }));
  const body = { status: { components } };
  await client.patch(ReleaseChannel, { name }, { type: 'merge', body }, { subresource: 'status' });
}

async function managed({ client }: TestCluster): Promise<Channel> {
  const found: Record<string, readonly string[]> = {};
  for await (const { metadata, status } of client.list(ManagedComponent))
    found[metadata.name!] = status?.versions ?? [];
  return found;
}

const kinds = [ManagedComponent, ReleaseChannel];

test('versions of one component in several channels are put together', async () => {
  await using cluster = await testCluster({ kinds });
  await channel(cluster, 'live', { crossplane: ['1.19.0', '1.20.0'], flux: ['2.4.0'] });
  await channel(cluster, 'next', { crossplane: ['1.20.0', '2.0.0'] });
  await cluster.run([managedComponentController({ core: onboardingCluster })]);
  await cluster.eventually('they are there', async () => Object.values(await managed(cluster)).flat().length === 4);
  expect(await managed(cluster)).toEqual({ crossplane: ['1.19.0', '1.20.0', '2.0.0'], flux: ['2.4.0'] });
});

const slow = skipped(onReference, 'on the real API server: the second look at release channels, 15 minutes later');

test.skipIf(slow)(
  'every 15 minutes it looks again; what is no longer listed goes, and nothing is written twice',
  async () => {
    await using cluster = await testCluster({ kinds });
    await channel(cluster, 'live', { crossplane: ['1.19.0'], flux: ['2.4.0'] });
    await cluster.run([managedComponentController({ core: onboardingCluster })]);
    await cluster.eventually('both are there', async () => Object.keys(await managed(cluster)).length === 2);
    const before = (await cluster.client.get(ManagedComponent, { name: 'crossplane' }))?.metadata.resourceVersion;
    await channel(cluster, 'live', { crossplane: ['1.19.0'] });
    await cluster.advance(minutes(14));
    expect(Object.keys(await managed(cluster))).toHaveLength(2);
    await cluster.eventually('flux is gone', async () => !('flux' in (await managed(cluster))));
    expect((await cluster.client.get(ManagedComponent, { name: 'crossplane' }))?.metadata.resourceVersion).toBe(before);
  },
);

test('a list that fails changes nothing and is tried again', async () => {
  await using cluster = await testCluster({ kinds });
  await channel(cluster, 'live', { flux: ['2.4.0'] });
  let broken = true;
  const core = async ({ client }: Parameters<typeof onboardingCluster>[0]) => {
    if (broken) throw new Error('no route to the core cluster');
    return client;
  };
  const { logs } = await cluster.run([managedComponentController({ core })]);
  await cluster.eventually('it was tried', () => logs.some(({ level }) => level === 'error'));
  expect(await managed(cluster)).toEqual({});
  broken = false;
  await cluster.eventually('it is there', async () => 'flux' in (await managed(cluster)));
});

test('with a catalogue of our own it lists what that has', async () => {
  await using cluster = await testCluster({ kinds });
  const none = async () => ({ objects: [] });
  const catalogue = catalogueOf({ flux: { '1': none, '2': none }, btpServiceOperator: { '0.9.0': none } });
  await cluster.run([managedComponentController({ catalogue })]);
  await cluster.eventually('they are there', async () => Object.values(await managed(cluster)).flat().length === 3);
  expect(await managed(cluster)).toEqual({ flux: ['1', '2'], 'btp-service-operator': ['0.9.0'] });
});
