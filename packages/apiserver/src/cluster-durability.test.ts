import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
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

it('a start that fails, as on a port in use, leaves the data to the next one', async () => {
  const occupied = createServer();
  await new Promise<void>((resolve) => occupied.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = occupied.address() as AddressInfo;
    await expect(startCluster({ dataDir, port })).rejects.toThrow('EADDRINUSE');
    await expect(
      startCluster({ dataDir, manifests: [{ apiVersion: 'v1', kind: 'Nothing', metadata: { name: 'x' } }] }),
    ).rejects.toThrow('Nothing');
  } finally {
    occupied.close();
  }
  await using cluster = await startCluster({ dataDir });
  expect((await testClient(cluster).get(path)).status).toBe(200);
});

it('kubeconfigs and ServiceAccount tokens outlive a restart', { timeout: 30_000 }, async () => {
  const options = { dataDir, port: 0, tls: true, authorization: 'RBAC', controllers: 'none' } as const;
  const first = await startCluster(options);
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  const client = testClient(first);
  await client.post(accounts, { metadata: { name: 'robot' } });
  const { body } = await client.post(`${accounts}/robot/token`, { spec: { expirationSeconds: 3_600 } });
  const { token } = (body as unknown as { status: { token: string } }).status;
  const { kubeconfig } = first;
  await first.stop();

  await using second = await startCluster(options);
  const data = (field: string) =>
    Buffer.from(new RegExp(`${field}: (\\S+)`).exec(kubeconfig)![1]!, 'base64').toString();
  const ca = data('certificate-authority-data');
  const whoAmI = (extra: { cert?: string; key?: string; headers?: Record<string, string> }) =>
    new Promise<string>((resolve, reject) => {
      const url = `${second.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`;
      const headers = { 'content-type': 'application/json', ...extra.headers };
      const outgoing = request(url, { ...extra, method: 'POST', ca, agent: false, headers }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve(text));
      });
      outgoing.on('error', reject);
      outgoing.end('{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}');
    });
  expect(await whoAmI({ cert: data('client-certificate-data'), key: data('client-key-data') })).toContain(
    '"username":"kubernetes-admin"',
  );
  expect(await whoAmI({ headers: { authorization: `Bearer ${token}` } })).toContain(
    '"username":"system:serviceaccount:default:robot"',
  );
  const keys = (await readdir(dataDir)).filter((file) => file.endsWith('.pem'));
  expect(keys.toSorted()).toEqual(['certificate-authority.pem', 'service-account-key.pem']);
  for (const file of keys) expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600);
});

it.each(['certificate-authority.pem', 'service-account-key.pem'])('a damaged %s is named', async (file) => {
  await writeFile(join(dataDir, file), 'not a key');
  await expect(startCluster({ dataDir, tls: true })).rejects.toThrow(file);
  await rm(join(dataDir, file));
  await using cluster = await startCluster({ dataDir, tls: true, controllers: 'none' });
  expect(cluster.revision).toBeGreaterThan(0);
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
