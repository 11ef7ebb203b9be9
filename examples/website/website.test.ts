import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startCluster } from '@slipway/apiserver';
import { createClient, Deployment, findCondition, minutes, toCustomResourceDefinition } from '@slipway/kube';
import { memoryLogger, startManager } from '@slipway/runtime';
import { VirtualClock } from '@slipway/testing';
import { expect, test } from 'vitest';

import { Website, websites } from './website.ts';

const key = { namespace: 'default', name: 'blog' };

test('the whole program has fewer than 80 lines', async () => {
  const source = await readFile(join(import.meta.dirname, 'website.ts'), 'utf8');
  expect(source.split('\n').length).toBeLessThan(80);
});

test('a Website becomes a Deployment, follows its spec, says when it is ready and heals what others break', async () => {
  const clock = new VirtualClock();
  await using cluster = await startCluster({ clock });
  const transport = cluster.transport;
  const client = createClient({ transport, fieldManager: 'test', clock });
  const log = memoryLogger();
  await client.create(toCustomResourceDefinition(Website));
  await clock.advance(1000);
  await using manager = await startManager({
    controllers: [websites],
    cluster: { transport },
    leaderElection: true,
    clock,
    log,
  });
  await client.create({
    apiVersion: 'example.com/v1',
    kind: 'Website',
    metadata: key,
    spec: { image: 'nginx:1.29', replicas: 2 },
  });
  const deployed = async () => (await client.get(Deployment, key))?.spec;
  await clock.runUntil(async () => (await deployed())?.replicas === 2);
  await manager.elected;
  const readiness = async () => findCondition(await client.get(Website, key), 'Ready');
  await clock.runUntil(async () => (await readiness())?.reason === 'Starting');

  await client.patch(
    Deployment,
    key,
    { type: 'merge', body: { status: { replicas: 2, readyReplicas: 2, observedGeneration: 1 } } },
    { subresource: 'status' },
  );
  await clock.runUntil(async () => (await readiness())?.status === 'True');
  const site = await client.get(Website, key);
  expect(site?.status).toMatchObject({
    url: 'http://blog.default.svc',
    conditions: [{ type: 'Ready', reason: 'Deployed', observedGeneration: 1 }],
  });

  await client.patch(Website, key, { type: 'merge', body: { spec: { image: 'nginx:1.30' } } });
  await clock.runUntil(async () => (await deployed())?.template?.spec?.containers?.[0]?.image === 'nginx:1.30');

  await client.delete(Deployment, key);
  await clock.runUntil(async () => (await deployed()) !== undefined);

  // It looks again every ten minutes, and writes nothing when nothing is to be done.
  const { resourceVersion } = (await client.get(Website, key))!.metadata;
  const looked = () => log.entries.filter(({ message }) => message.startsWith('website is')).length;
  const before = looked();
  await clock.advance(minutes(11));
  expect(looked()).toBe(before + 1);
  expect((await client.get(Website, key))?.metadata.resourceVersion).toBe(resourceVersion);
  expect(log.entries.filter(({ level }) => level === 'error')).toEqual([]);
});
