import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { startCluster, type Cluster } from '@slipway/apiserver';
import { controlPlaneOperator, ManagedControlPlane, OpenIDConnect, Targets } from '@slipway/control-plane';
import {
  type Client,
  ConfigMap,
  connect,
  createClient,
  loadKubeConfig,
  type KubeObject,
  Secret,
  toCustomResourceDefinition,
} from '@slipway/kube';

import { bundleInto } from '../lib/bundle.ts';
import { cpuMs, memoryOf } from '../lib/process-stats.ts';
import { figure, publish, ratio, type Table } from '../lib/report.ts';
import { median } from '../lib/statistics.ts';
import { Subject } from '../lib/subject.ts';

/**
 * Many ManagedControlPlanes at once. First with the provider `existing`, all on one control plane: the onboarding cluster and the control plane are embedded API servers in
 * this process, over sockets; the operator is a process of its own. Then with the provider `embedded`: an API server of its own for each.
 */
const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '200' },
    embedded: { type: 'string', default: '50' },
    record: { type: 'boolean' },
    quick: { type: 'boolean' },
  },
});
const count = options.quick ? 20 : Number(options.count);
const embedded = options.quick ? 3 : Number(options.embedded);

/** The contract of the original: a deletion passes three stages, and each is noticed by a poll of 60 s or, with luck, by an event. */
const pollSeconds = 60;
/** Landscapers and ControlPlanes aside, two: Authentication and Authorization first, then the APIServer. */
const stages = 2;

const folder = await mkdtemp(join(tmpdir(), 'slipway-bench-'));
const user = { kind: 'User', name: 'corp:ann' };
const provider = { name: 'corp', issuerURL: 'https://login.example.com', clientID: 'bench', usernameClaim: 'email' };
const nameOf = (index: number): string => `mcp-${index}`;

function mcp(index: number): KubeObject {
  return {
    apiVersion: ManagedControlPlane.apiVersion,
    kind: ManagedControlPlane.kind,
    metadata: {
      name: nameOf(index),
      namespace: 'default',
      annotations: { 'confirmation.openmcp.cloud/deletion': 'true' },
    },
    spec: {
      authentication: { identityProviders: [provider] },
      authorization: { roleBindings: [{ role: 'admin', subjects: [user] }] },
      components: { apiServer: { type: 'GardenerDedicated' } },
    },
  };
}

const bench = { name: 'bench', groups: ['system:masters', 'system:authenticated'] };

class RequestCount {
  reads = 0;
  writes = 0;

  watch(cluster: Cluster): void {
    cluster.intercept(({ user: { name }, method }, phase) => {
      // Those of the server's own controllers and of this program do not count.
      if (phase !== 'before' || name === bench.name || name.startsWith('system:kube-') || name === 'system:apiserver')
        return;
      if (method === 'GET') this.reads += 1;
      else this.writes += 1;
    });
  }

  take(): { reads: number; writes: number } {
    const { reads, writes } = this;
    this.reads = this.writes = 0;
    return { reads, writes };
  }
}

/** Resolves when nothing was asked for a while. */
async function rests(requests: readonly RequestCount[]): Promise<void> {
  const total = (): number => requests.reduce((sum, { reads, writes }) => sum + reads + writes, 0);
  for (let before = -1; before !== total();) {
    before = total();
    await wait(4_000);
  }
}

async function allReady(client: Client, wanted: number): Promise<Map<string, number>> {
  const started = performance.now();
  const ready = new Map<string, number>();
  while (ready.size < wanted) {
    for await (const { metadata, status } of client.list(ManagedControlPlane)) {
      const name = metadata.name!;
      if (status?.status === 'Ready' && name.startsWith('mcp-') && !ready.has(name))
        ready.set(name, (performance.now() - started) / 1000);
    }
    await wait(100);
  }
  return ready;
}

async function allGone(client: Client, wanted: number): Promise<number> {
  const started = performance.now();
  for (let index = 0; index < wanted; index += 1)
    await client.delete(ManagedControlPlane, { namespace: 'default', name: nameOf(index) });
  for (;;) {
    let left = 0;
    for await (const { metadata } of client.list(ManagedControlPlane)) if (metadata.name!.startsWith('mcp-')) left += 1;
    if (left === 0) return (performance.now() - started) / 1000;
    await wait(100);
  }
}

async function onOneControlPlane(): Promise<Table> {
  const crds = (kinds: readonly unknown[]) => kinds.map((kind) => toCustomResourceDefinition(kind as never)) as never[];
  await using onboarding = await startCluster({ port: 0, crds: crds(controlPlaneOperator.kinds) });
  await using target = await startCluster({ port: 0, tls: true, crds: crds([OpenIDConnect]) });
  const client = createClient({ transport: onboarding.transportFor({ user: bench }), fieldManager: 'bench' });
  const secret = { metadata: { namespace: 'default', name: 'target' }, stringData: { kubeconfig: target.kubeconfig } };
  await client.create({ apiVersion: 'v1', kind: 'Secret', ...secret } as KubeObject);
  const kubeconfig = join(folder, 'onboarding.kubeconfig');
  await onboarding.writeKubeconfig(kubeconfig);
  const program = await bundleInto(folder, join(import.meta.dirname, 'operator-process.ts'), 'operator');
  const startOperator = async (): Promise<Subject> => {
    const started = new Subject(process.execPath, [program, '--kubeconfig', kubeconfig]);
    await started.said('ready');
    return started;
  };
  let operator = await startOperator();
  await using _last = { [Symbol.asyncDispose]: () => operator[Symbol.asyncDispose]() };
  const idleMb = memoryOf(operator.pid).residentMb;

  const requests = [new RequestCount(), new RequestCount()] as const;
  requests[0].watch(onboarding);
  requests[1].watch(target);
  let cpuBefore = cpuMs(operator.pid);
  const started = performance.now();
  for (let index = 0; index < count; index += 1) await client.create(mcp(index));
  await allReady(client, count);
  const readySeconds = (performance.now() - started) / 1000;
  const readyCpu = cpuMs(operator.pid) - cpuBefore;
  const [here, there] = requests.map((each) => each.take());
  const memory = memoryOf(operator.pid);

  await wait(5_000);
  requests.forEach((each) => each.take());
  await wait(10_000);
  const [quietHere, quietThere] = requests.map((each) => each.take());

  // Another operator in its place looks at everything again, as a resync does.
  await operator[Symbol.asyncDispose]();
  requests.forEach((each) => each.take());
  operator = await startOperator();
  await rests(requests);
  const resyncCpu = cpuMs(operator.pid);
  const [againHere, againThere] = requests.map((each) => each.take());

  cpuBefore = cpuMs(operator.pid);
  const goneSeconds = await allGone(client, count);
  const goneCpu = cpuMs(operator.pid) - cpuBefore;
  const perPlane = (requested: { reads: number; writes: number } | undefined) =>
    `${((requested?.writes ?? 0) / count).toFixed(1)} writes, ${((requested?.reads ?? 0) / count).toFixed(1)} reads`;
  const perRead = (requested: { reads: number } | undefined) => ((requested?.reads ?? 0) / count).toFixed(1);
  const bound = pollSeconds * stages;
  return {
    title: `${count} ManagedControlPlanes on one control plane (provider existing)`,
    columns: ['', 'Slipway', 'bound of 60-second polls', 'ours'],
    rows: [
      ['all Ready', figure(readySeconds, 's'), '–', '–'],
      ['CPU of the operator, each, to Ready', figure(readyCpu / count, 'ms'), '–', '–'],
      ['requests on the onboarding cluster, each', perPlane(here), '–', '–'],
      ['requests on the control plane, each', perPlane(there), '–', '–'],
      [
        'memory of the operator before, with all, peak',
        `${idleMb.toFixed(0)}, ${memory.residentMb.toFixed(0)}, ${memory.peakMb.toFixed(0)} MB`,
        '–',
        '–',
      ],
      [
        'writes in 10 s in which nothing changes',
        String((quietHere?.writes ?? 0) + (quietThere?.writes ?? 0)),
        '–',
        '–',
      ],
      ['reads in the same time', String((quietHere?.reads ?? 0) + (quietThere?.reads ?? 0)), '–', '–'],
      [
        'all looked at again (a new operator): writes',
        String((againHere?.writes ?? 0) + (againThere?.writes ?? 0)),
        '–',
        '–',
      ],
      ['the same: reads on both clusters, each', `${perRead(againHere)}, ${perRead(againThere)}`, '–', '–'],
      ['the same: CPU of the operator with its start, each', figure(resyncCpu / count, 'ms'), '–', '–'],
      ['all deleted', figure(goneSeconds, 's'), `up to ${bound} s`, ratio(goneSeconds, bound)],
      ['CPU of the operator, each, to gone', figure(goneCpu / count, 'ms'), '–', '–'],
    ],
  };
}

/** What the tutorial asks for, one step after another: how long somebody waits who does nothing else. */
async function stepByStep(client: Client): Promise<Table> {
  await using targets = new Targets();
  const shop = { namespace: 'default', name: 'shop' };
  const object = mcp(0);
  const { components } = object['spec'] as { components: object };
  const spec = { ...(object['spec'] as object), components: { ...components, flux: { version: '2.4.0' } } };
  let since = performance.now();
  const lap = (): string => {
    const seconds = (performance.now() - since) / 1000;
    since = performance.now();
    return figure(seconds, 's');
  };
  const until = async (check: () => Promise<unknown>): Promise<string> => {
    while (!(await check())) await wait(20);
    return lap();
  };
  await client.create({ ...object, metadata: { ...object.metadata, ...shop }, spec });
  const ready = await until(async () => (await client.get(ManagedControlPlane, shop))?.status?.status === 'Ready');
  const secret = await client.get(Secret, { ...shop, name: 'shop.apiserver-admin' });
  const target = await targets.connect(Buffer.from(secret!.data!['kubeconfig']!, 'base64').toString('utf8'));
  const installed = await target.client.get(ConfigMap, { namespace: 'flux-system', name: 'flux' });
  if (!installed) throw new Error('the component did not arrive');
  const used = lap();
  await client.delete(ManagedControlPlane, shop);
  const gone = await until(async () => (await client.get(ManagedControlPlane, shop)) === undefined);
  return {
    title: 'One ManagedControlPlane with a component, as in the tutorial (provider embedded)',
    columns: ['', 'Slipway', 'aim'],
    rows: [
      ['create to Ready', ready, '5 s'],
      ['its kubeconfig read, and the component found with it', used, '–'],
      ['delete to gone', gone, '5 s'],
    ],
  };
}

const catalogued = `apiVersion: v1
kind: Namespace
metadata: { name: flux-system }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: flux, namespace: flux-system }
data: { version: 2.4.0 }
`;

async function oneEach(): Promise<Table[]> {
  const kubeconfig = join(folder, 'up.kubeconfig');
  const main = resolve(import.meta.dirname, '..', '..', 'packages', 'cli', 'src', 'main.ts');
  const catalogue = join(folder, 'catalogue.yaml');
  await writeFile(join(folder, 'flux-2.4.0.yaml'), catalogued);
  await writeFile(catalogue, 'flux: { "2.4.0": flux-2.4.0.yaml }\n');
  const args = [main, 'up', 'control-plane', '--kubeconfig', kubeconfig, '--catalogue', catalogue];
  const child = spawn(process.execPath, args, {
    stdio: 'ignore',
    env: { ...process.env, HOME: folder, TMPDIR: folder },
  });
  try {
    const client = await clientOf(kubeconfig);
    const one = await stepByStep(client);
    const started = performance.now();
    for (let index = 0; index < embedded; index += 1) await client.create(mcp(index));
    const ready = await allReady(client, embedded);
    const seconds = (performance.now() - started) / 1000;
    const memory = (await pidsBelow(folder)).map((pid) => memoryOf(pid).residentMb);
    const goneSeconds = await allGone(client, embedded);
    const many = {
      title: `${embedded} ManagedControlPlanes with an API server each (provider embedded)`,
      columns: ['', 'Slipway'],
      rows: [
        ['all Ready', figure(seconds, 's')],
        ['the same, divided by their number', figure(seconds / embedded, 's')],
        [
          'create to Ready, median and longest of them, all started at once',
          `${median([...ready.values()]).toFixed(1)} s, ${Math.max(...ready.values()).toFixed(1)} s`,
        ],
        [
          'memory of each API server, median and most',
          `${median(memory).toFixed(0)} MB, ${Math.max(...memory).toFixed(0)} MB`,
        ],
        ['all deleted', figure(goneSeconds, 's')],
      ],
    };
    return [one, many];
  } finally {
    const ended = once(child, 'exit');
    if (child.kill('SIGTERM')) await ended;
  }
}

async function clientOf(file: string): Promise<Client> {
  for (;;) {
    try {
      const connection = await (await loadKubeConfig({ file })).connection();
      const { client } = connect(connection, { fieldManager: 'bench' });
      for await (const each of client.list(ManagedControlPlane)) if (each.status?.status === 'Ready') return client;
    } catch {
      // It is starting.
    }
    await wait(200);
  }
}

async function pidsBelow(data: string): Promise<number[]> {
  const files = (await readdir(data, { recursive: true })).filter((file) => file.endsWith('/pid'));
  return await Promise.all(files.map(async (file) => Number(await readFile(join(data, file), 'utf8'))));
}

try {
  const tables = [await onOneControlPlane(), ...(await oneEach())];
  await publish({
    script: 'bench:control-plane',
    title: 'Control planes: many at once',
    method:
      'Each with an identity provider, a role binding and an API server. First all on one control plane: the onboarding cluster and the control plane are embedded API servers in the ' +
      'process that measures, over sockets; the operator is a bundle in a process of its own. Then with an embedded API server each, run from source. There is no peer that runs without ' +
      'Gardener; the bound beside the deletion is computed, not measured: the contract of the original notices each of two stages by a poll of 60 s.',
    versions: {},
    bars: [],
    tables,
  });
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
