import { execFile, spawn } from 'node:child_process';
import { access, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AdminClient } from './admin-client.ts';
import { ensureReferenceBinaries, type ReferenceBinaries } from './build.ts';
import { isAlive } from './is-alive.ts';
import { recordOpenApi } from './record-openapi.ts';
import { type ReferenceCluster, startReferenceCluster } from './start-reference-cluster.ts';

const inLane = process.env['SLIPWAY_CLUSTER'] === 'reference';
const found = inLane ? await ensureReferenceBinaries({ log: (line) => console.log(line) }) : undefined;
if (!found) console.log('SKIPPED the reference cluster itself: it runs in its lane (npm run test:reference)');
else if (!found.available) console.log(`SKIPPED reference lane: ${found.reason}`);
const binaries = found?.available ? found : undefined;

const run = promisify(execFile);
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

async function kubectl(cluster: ReferenceCluster, ...args: string[]): Promise<string> {
  const { stdout } = await run(cluster.binaries.kubectl, ['--kubeconfig', cluster.kubeconfigPath, ...args]);
  return stdout;
}

describe.runIf(binaries)('the API server alone', () => {
  let cluster: ReferenceCluster;

  beforeAll(async () => {
    cluster = await startReferenceCluster({ binaries: binaries as ReferenceBinaries });
  });
  afterAll(async () => {
    await cluster?.stop();
  });

  it('reports the pinned release', async () => {
    using admin = new AdminClient(cluster);
    const version = await admin.call<{ gitVersion: string; minor: string }>('GET', '/version');
    expect(version.gitVersion).toMatch(/^v1\.\d+\.\d+$/);
    expect(version.minor).toBe(version.gitVersion.split('.')[1]);
  });

  it('knows the administrator by certificate and by token, and nobody else', async () => {
    expect(await kubectl(cluster, 'auth', 'can-i', '*', '*')).toBe('yes\n');
    using byToken = new AdminClient({ ...cluster, adminCert: '', adminKey: '' });
    const ask = (headers: Record<string, string>) => byToken.send('GET', '/api/v1/secrets', { headers });
    expect((await ask({ authorization: `Bearer ${cluster.token}` })).status).toBe(200);
    expect((await ask({ authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await ask({})).status).toBe(403);
  });

  it('has RBAC on', async () => {
    using admin = new AdminClient(cluster);
    const headers = { 'impersonate-user': 'alice' };
    const denied = await admin.send('GET', '/api/v1/namespaces/default/configmaps', { headers });
    expect(denied.status).toBe(403);
    expect(denied.json<{ message: string }>().message).toContain('User "alice" cannot list resource "configmaps"');
  });

  it('dies and starts again at the same address with what it had stored', async () => {
    using admin = new AdminClient(cluster);
    const name = { metadata: { name: 'before' } };
    await admin.call('POST', '/api/v1/namespaces/default/configmaps', { body: name });
    const { 'kube-apiserver': before } = cluster.pids;
    await cluster.restartApiServer();
    expect(isAlive(before!)).toBe(false);
    expect(isAlive(cluster.pids['kube-apiserver']!)).toBe(true);
    expect(await admin.call('GET', '/api/v1/namespaces/default/configmaps/before')).toMatchObject(name);
  });

  it('streams a list as a watch, which needs a recent etcd', async () => {
    using admin = new AdminClient(cluster);
    const path =
      '/api/v1/namespaces?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const stop = new AbortController();
    const names: string[] = [];
    for await (const event of admin.watch<{ metadata: { name: string; annotations?: object } }>(path, stop.signal)) {
      if (event.type === 'BOOKMARK') {
        expect(event.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
        stop.abort();
        break;
      }
      names.push(event.object.metadata.name);
    }
    expect(names).toContain('default');
  });

  it('can be recorded', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'slipway-recording-'));
    try {
      await recordOpenApi(cluster, dir);
      const read = async (file: string) => JSON.parse(await readFile(join(dir, file), 'utf8'));
      expect(await read('openapi-v3/apis/apps/v1.json')).toHaveProperty(['components', 'schemas']);
      expect(await read('discovery/aggregated/apis.json')).toMatchObject({ kind: 'APIGroupDiscoveryList' });
      expect(await read('discovery/legacy/apis/apps/v1.json')).toMatchObject({ kind: 'APIResourceList' });
      expect((await read('tables.json'))['apis/apps/v1/deployments']).toContainEqual(
        expect.objectContaining({ name: 'Up-to-date' }),
      );
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});

describe.runIf(binaries?.kubeControllerManager)('with controllers and made-up nodes', () => {
  const account = '/api/v1/namespaces/default/serviceaccounts/default';
  let cluster: ReferenceCluster;
  let accountBefore: number | undefined;

  beforeAll(async () => {
    cluster = await startReferenceCluster({
      binaries: binaries as ReferenceBinaries,
      controllers: true,
      async beforeControllers(access) {
        using admin = new AdminClient(access);
        accountBefore = (await admin.send('GET', account)).status;
      },
      simulateNodes: 2,
      serviceAccountAdmission: true,
    });
  });
  afterAll(async () => {
    await cluster?.stop();
  });

  it('lets kinds be made before there are controllers', async () => {
    using admin = new AdminClient(cluster);
    expect(accountBefore).toBe(404);
    expect((await admin.send('GET', account)).status).toBe(200);
  });

  it('makes a Deployment available, and removes it with its pods', async () => {
    await kubectl(cluster, 'create', 'deployment', 'web', '--image=web:1', '--replicas=3');
    await kubectl(cluster, 'wait', '--for=condition=Available', 'deployment/web', '--timeout=60s');
    const nodes = await kubectl(cluster, 'get', 'pods', '-l=app=web', '-o=jsonpath={.items[*].spec.nodeName}');
    expect(new Set(nodes.split(' '))).toEqual(new Set(['reference-node-1', 'reference-node-2']));
    await kubectl(cluster, 'delete', 'deployment/web', '--cascade=foreground', '--timeout=60s');
    expect(await kubectl(cluster, 'get', 'pods', '-l=app=web', '-o=name')).toBe('');
  });

  it('completes a Job', async () => {
    await kubectl(cluster, 'create', 'job', 'once', '--image=once:1');
    await kubectl(cluster, 'wait', '--for=condition=Complete', 'job/once', '--timeout=60s');
  });

  it('binds a claim, and removes its volume after it', async () => {
    using admin = new AdminClient(cluster);
    const path = '/api/v1/namespaces/default/persistentvolumeclaims';
    await admin.call('POST', path, {
      body: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    });
    await kubectl(cluster, 'wait', '--for=jsonpath={.status.phase}=Bound', 'pvc/data', '--timeout=60s');
    await kubectl(cluster, 'delete', 'pvc/data', '--timeout=60s');
    await kubectl(cluster, 'wait', '--for=delete', 'pv', '--all', '--timeout=60s');
  });

  it('says why a pod is not scheduled', async () => {
    using admin = new AdminClient(cluster);
    await admin.call('POST', '/api/v1/namespaces/default/pods', {
      body: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'homeless' },
        spec: { nodeSelector: { disk: 'gold' }, containers: [{ name: 'c', image: 'c' }] },
      },
    });
    await kubectl(cluster, 'wait', '--for=condition=PodScheduled=False', 'pod/homeless', '--timeout=60s');
  });

  it.runIf(binaries?.helm)('installs a chart', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'slipway-helm-'));
    const env = { PATH: process.env['PATH'], HOME: dir, KUBECONFIG: cluster.kubeconfigPath };
    const helm = (...args: string[]) => run(cluster.binaries.helm!, args, { env, cwd: dir });
    try {
      await helm('create', 'sample');
      await helm('install', 'sample', './sample', '--wait', '--timeout=90s');
      const { stdout } = await helm('list', '--output=json');
      expect(JSON.parse(stdout)).toMatchObject([{ name: 'sample', status: 'deployed' }]);
      await helm('uninstall', 'sample', '--wait', '--timeout=90s');
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});

describe.runIf(binaries)('start and stop', () => {
  it('leaves no process and no file behind', async () => {
    const cluster = await startReferenceCluster({ binaries });
    const pids = Object.values(cluster.pids);
    expect(pids.map(isAlive)).toEqual([true, true]);
    await cluster.stop();
    await cluster.stop();
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(await exists(cluster.dir)).toBe(false);
  });

  it('shows the end of the log when a process does not start, and cleans up', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'slipway-start-'));
    vi.stubEnv('TMPDIR', dir);
    await expect(startReferenceCluster({ binaries, apiServerArgs: ['--no-such-flag'] })).rejects.toThrow(
      /kube-apiserver ended with exit code 1[^]*unknown flag: --no-such-flag/,
    );
    expect(await readdir(dir)).toEqual([]);
    await rm(dir, { recursive: true });
  });

  it('refuses controllers without kube-controller-manager', async () => {
    const without = { ...(binaries as ReferenceBinaries), kubeControllerManager: undefined };
    await expect(startReferenceCluster({ binaries: without, controllers: true })).rejects.toThrow(
      'controllers: true needs kube-controller-manager',
    );
  });

  it('does not outlive a process that was killed', async () => {
    const parent = spawn(process.execPath, [join(import.meta.dirname, 'up.ts')], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    for await (const chunk of parent.stdout.setEncoding('utf8')) {
      output += chunk;
      if (output.includes('logs:')) break;
    }
    const dir = /logs: (.*)\/\*\.log/.exec(output)![1]!;
    const url = /ready at (\S+)/.exec(output)![1]!;
    expect(await exists(dir)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => exists(dir), { timeout: 60_000 }).toBe(false);
    using nobody = new AdminClient({ url, ca: '', adminCert: '', adminKey: '' });
    // A process that was killed a moment ago may still reset a connection.
    await vi.waitFor(() => expect(nobody.send('GET', '/readyz')).rejects.toThrow('ECONNREFUSED'), 20_000);
  });
});
