import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startCluster } from '@slipway/apiserver';
import {
  type Client,
  createClient,
  CustomResourceDefinition,
  Deployment,
  findCondition,
  isConditionTrue,
  type Kind,
  Lease,
  minutes,
  type ObjectOf,
  toCustomResourceDefinition,
} from '@slipway/kube';
import { memoryLogger, startManager } from '@slipway/runtime';
import { testCluster, VirtualClock } from '@slipway/testing';
import { expect, test } from 'vitest';

import { Website, websites } from './website.ts';

const key = { namespace: 'default', name: 'blog' };

test('the whole program has fewer than 80 lines', async () => {
  const source = await readFile(join(import.meta.dirname, 'website.ts'), 'utf8');
  expect(source.split('\n').length).toBeLessThan(80);
});

test('a Website becomes a Deployment, follows its spec, says when it is ready and heals what others break', async () => {
  await using cluster = await testCluster({ kinds: [Website], controllers: 'workloads' });
  const { client } = cluster;
  const { logs } = await cluster.run([websites], { leaderElection: { namespace: 'default' } });
  await client.create({
    apiVersion: 'example.com/v1',
    kind: 'Website',
    metadata: key,
    spec: { image: 'nginx:1.29', replicas: 2 },
  });
  const deployed = async () => (await client.get(Deployment, key))?.spec;
  await cluster.eventually('the Deployment', async () => (await deployed())?.replicas === 2);
  const readiness = async () => findCondition(await client.get(Website, key), 'Ready');
  await cluster.eventually('it says it is ready', async () => (await readiness())?.status === 'True');
  const site = await client.get(Website, key);
  expect(site?.status).toMatchObject({
    url: 'http://blog.default.svc',
    conditions: [{ type: 'Ready', reason: 'Deployed', observedGeneration: 1 }],
  });

  await client.patch(Website, key, { type: 'merge', body: { spec: { image: 'nginx:1.30' } } });
  const image = async () => (await deployed())?.template?.spec?.containers?.[0]?.image;
  await cluster.eventually('the new image', async () => (await image()) === 'nginx:1.30');

  await client.delete(Deployment, key);
  await cluster.eventually('the Deployment is back', deployed);
  expect(logs.filter(({ level }) => level === 'error')).toEqual([]);
});

test('a Website is looked at every ten minutes, and nothing is written when nothing is to be done', async () => {
  const clock = new VirtualClock();
  await using cluster = await startCluster({ clock });
  const client = createClient({ transport: cluster.transport, fieldManager: 'test', clock });
  const log = memoryLogger();
  await client.create(toCustomResourceDefinition(Website));
  await using _manager = await startManager({
    controllers: [websites],
    cluster: { transport: cluster.transport },
    clock,
    log,
  });
  const spec = { image: 'nginx:1.29', replicas: 0 };
  await client.create({ apiVersion: 'example.com/v1', kind: 'Website', metadata: key, spec });
  await clock.runUntil(async () => findCondition(await client.get(Website, key), 'Ready')?.status === 'True');
  await clock.advance(1000);
  const { resourceVersion } = (await client.get(Website, key))!.metadata;
  const looked = () => log.entries.filter(({ message }) => message.startsWith('brought the website')).length;
  const before = looked();
  await clock.advance(minutes(11));
  expect(looked()).toBe(before + 1);
  expect((await client.get(Website, key))?.metadata.resourceVersion).toBe(resourceVersion);
});

test('started as a program it finds its cluster, installs its kind, works, and ends well on SIGTERM', async () => {
  await using cluster = await startCluster({ port: 0 });
  const client = createClient({ transport: cluster.transport, fieldManager: 'test' });
  const folder = await mkdtemp(join(tmpdir(), 'website-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await cluster.writeKubeconfig(kubeconfig);
  const program = spawn(process.execPath, [join(import.meta.dirname, 'website.ts')], {
    env: { PATH: process.env['PATH'], KUBECONFIG: kubeconfig, HEALTH_PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  program.stderr.setEncoding('utf8').on('data', (chunk: string) => (log += chunk));
  const ended = once(program, 'exit');
  try {
    await seen(client, CustomResourceDefinition, (crd) => isConditionTrue(crd, 'Established'));
    await client.create({
      apiVersion: 'example.com/v1',
      kind: 'Website',
      metadata: key,
      spec: { image: 'nginx:1.29', replicas: 1 },
    });
    await seen(client, Deployment, ({ metadata }) => metadata.name === key.name);
    program.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect((await client.get(Lease, { namespace: 'default', name: 'website' }))?.spec?.holderIdentity).toBe('');
    expect(JSON.parse(log.trim().split('\n').at(-1)!)).toMatchObject({ level: 'info', msg: 'stopped' });
  } finally {
    program.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true });
  }
});

/** Waits for an object of a kind to be as wanted. Another process is at work, so there is no clock to move. */
async function seen<K extends Kind>(client: Client, kind: K, wanted: (object: ObjectOf<K>) => boolean): Promise<void> {
  for await (const event of client.watch(kind, { resourceVersion: '0' })) {
    if (event.type !== 'BOOKMARK' && wanted(event.object)) return;
  }
}
