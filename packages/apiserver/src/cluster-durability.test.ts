import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startCluster } from './cluster.ts';
import { configMap, testClient } from './test-client.ts';

const path = '/api/v1/namespaces/default/configmaps';
let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'slipway-cluster-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

it('a cluster started again on its data goes on where it was', async () => {
  const first = await startCluster({ dataDir, controllers: 'none' });
  const created = (await testClient(first).post(path, configMap('a', { x: '1' }))).body;
  const { revision } = first;
  await first.stop();

  await using second = await startCluster({ dataDir, controllers: 'none' });
  const client = testClient(second);
  expect((await client.get(`${path}/a`)).body).toEqual(created);
  // Nothing about a second start is a change: no object of the start is written again.
  expect(second.revision).toBe(revision);
  const watch = await client.watch(`${path}?watch=true&resourceVersion=${revision - 1}`);
  expect(watch.summary()).toEqual(['ADDED a']);
  const next = await client.merge(`${path}/a`, { data: { x: '2' } });
  expect(next.body.metadata.uid).toBe(created.metadata.uid);
  expect(Number(next.body.metadata.resourceVersion)).toBe(revision + 1);
});

it('CRDs and their objects come back', async () => {
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
  const widgets = '/apis/example.com/v1/widgets';
  const first = await startCluster({ dataDir, controllers: 'none', crds: [crd] });
  const made = await testClient(first).post(widgets, {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
  });
  expect(made.status).toBe(201);
  await first.stop();
  await using second = await startCluster({ dataDir, controllers: 'none', crds: [crd] });
  expect((await testClient(second).get(`${widgets}/w`)).body).toEqual(made.body);
});

/** Writes ConfigMaps one after the other and prints the name and version of each once it is acknowledged. */
const writer = `
  const { startCluster } = await import(process.argv[1]);
  const cluster = await startCluster({ dataDir: process.argv[2], controllers: 'none' });
  process.stdout.write('start ' + cluster.revision + '\\n');
  for (let index = 0; ; index += 1) {
    const name = process.argv[3] + '-' + index;
    const body = JSON.stringify({ metadata: { name }, data: { pad: 'x'.repeat(500) } });
    const answer = await cluster.transport.send({ method: 'POST', path: '${path}', headers: { 'content-type': 'application/json' }, body });
    process.stdout.write(name + ' ' + JSON.parse(answer.body.toString()).metadata.resourceVersion + '\\n');
    if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
`;

it(
  'kill -9 at any moment loses no acknowledged write and never turns the revision back',
  { timeout: 60_000 },
  async () => {
    const acknowledged = new Map<string, string>();
    let highest = 0;
    for (let round = 0; round < 3; round += 1) {
      const source = new URL('./index.ts', import.meta.url).href;
      const child = spawn(process.execPath, ['--input-type=module', '-e', writer, source, dataDir, `r${round}`], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const exited = new Promise((resolve) => {
        child.once('exit', resolve);
      });
      let written = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        const [name, version] = line.split(' ');
        if (name === 'start') {
          expect(Number(version)).toBeGreaterThanOrEqual(highest);
          continue;
        }
        acknowledged.set(name!, version!);
        highest = Math.max(highest, Number(version));
        written += 1;
        if (written === 40 + round * 37) child.kill('SIGKILL');
      }
      await exited;
      expect(written).toBeGreaterThanOrEqual(40);
    }
    await using cluster = await startCluster({ dataDir, controllers: 'none' });
    expect(cluster.revision).toBeGreaterThanOrEqual(highest);
    const { body } = await testClient(cluster).get(path);
    const stored = new Map(body.items.map(({ metadata }) => [metadata.name!, metadata.resourceVersion!]));
    expect(Object.fromEntries(stored)).toMatchObject(Object.fromEntries(acknowledged));
  },
);
