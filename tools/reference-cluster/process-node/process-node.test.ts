import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AdminClient } from '../admin-client.ts';
import { ensureReferenceBinaries } from '../build.ts';
import { type ReferenceCluster, startReferenceCluster } from '../start-reference-cluster.ts';
import { processNodeProblem } from './pod-network.ts';
import type { ContainerState, PodCondition } from './pod-status.ts';
import type { Container, RunnablePod } from './running-pod.ts';

const inLane = process.env['SLIPWAY_CLUSTER'] === 'reference';
const found = inLane ? await ensureReferenceBinaries({ log: (line) => console.log(line) }) : undefined;
const problem = !found
  ? 'it runs in the reference lane (npm run test:reference)'
  : found.available
    ? processNodeProblem()
    : found.reason;
if (problem) console.log(`SKIPPED the node that runs containers as processes: ${problem}`);

/** Answers with what it sees of itself: its environment, a file, or what the API server says to its token. */
const server = `
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
const account = '/var/run/secrets/kubernetes.io/serviceaccount';
const routes = {
  '/env': async () => JSON.stringify(process.env),
  '/file': async () => readFileSync('/etc/app/word', 'utf8'),
  '/api': () => new Promise((resolve, reject) => {
    const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
    const headers = { authorization: 'Bearer ' + readFileSync(account + '/token', 'utf8'), 'content-type': 'application/json' };
    const ask = request({ host, port, path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', method: 'POST', headers, ca: readFileSync(account + '/ca.crt') }, async (answer) => {
      let text = '';
      for await (const chunk of answer) text += chunk;
      resolve(JSON.parse(text).status?.userInfo.username ?? text);
    }).on('error', reject);
    ask.end(JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }));
  }),
  '/ready': async () => 'ok',
};
createServer(async (incoming, answer) => {
  try {
    answer.end(await routes[incoming.url]());
  } catch (error) {
    answer.writeHead(500).end(String(error));
  }
}).listen(8080);
`;

interface SeenPod extends RunnablePod {
  status: {
    phase: string;
    podIP?: string;
    conditions?: PodCondition[];
    containerStatuses?: { ready: boolean; restartCount: number; state: ContainerState; lastState?: ContainerState }[];
  };
}

describe.runIf(!problem)('a node that runs containers as processes', () => {
  let cluster: ReferenceCluster;
  let admin: AdminClient;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'process-node-test-'));
    await writeFile(join(folder, 'server.mjs'), server);
    cluster = await startReferenceCluster({
      controllers: true,
      processNode: {
        images: {
          'server:1': {
            files: { '/server.mjs': join(folder, 'server.mjs') },
            entrypoint: [process.execPath, '/server.mjs'],
          },
          'shell:1': { entrypoint: ['/bin/sh', '-c'] },
        },
        backOff: { baseMs: 300, maxMs: 5_000, resetAfterMs: 600_000 },
      },
    });
    admin = new AdminClient(cluster);
  });
  afterAll(async () => {
    admin?.[Symbol.dispose]();
    await cluster?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const eventually = <T>(check: () => Promise<T>) => vi.waitFor(check, { timeout: 150_000, interval: 100 });
  const podPath = (name: string) => `/api/v1/namespaces/default/pods/${name}`;
  const readPod = (name: string) => admin.call<SeenPod>('GET', podPath(name));
  const create = (resource: string, body: object) =>
    admin.call('POST', `/api/v1/namespaces/default/${resource}`, { body });

  async function createPod(name: string, container: Partial<Container>, spec: object = {}): Promise<void> {
    const containers = [{ name: 'main', image: 'shell:1', ...container }];
    await create('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { pod: name } },
      spec: { containers, ...spec },
    });
  }

  /** The pods that are ready, when there are so many. */
  const ready = (names: readonly string[]) =>
    eventually(async () => {
      const pods = await Promise.all(names.map(readPod));
      for (const { status } of pods) {
        expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
      }
      return pods;
    });

  const ask = ({ status }: SeenPod, path: string) =>
    new Promise<string>((resolve, reject) => {
      get({ host: status.podIP, port: 8080, path, agent: false }, async (answer) => {
        let text = '';
        for await (const chunk of answer) text += chunk;
        resolve(text);
      }).on('error', reject);
    });

  it('gives every pod an address of its own, its environment, its files and its token', async () => {
    await create('secrets', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'app' },
      stringData: { word: 'first' },
    });
    const container = {
      image: 'server:1',
      env: [
        { name: 'WORD', valueFrom: { secretKeyRef: { name: 'app', key: 'word' } } },
        { name: 'MY_ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      ],
      ports: [{ name: 'web', containerPort: 8080 }],
      readinessProbe: { httpGet: { path: '/ready', port: 'web' }, periodSeconds: 1 },
      volumeMounts: [{ name: 'app', mountPath: '/etc/app' }],
    };
    const volumes = [{ name: 'app', secret: { secretName: 'app' } }];
    for (const name of ['one', 'two']) await createPod(name, container, { volumes });
    const pods = await ready(['one', 'two']);
    expect(new Set(pods.map(({ status }) => status.podIP)).size).toBe(2);
    for (const pod of pods) {
      expect(JSON.parse(await ask(pod, '/env'))).toMatchObject({ WORD: 'first', MY_ADDRESS: pod.status.podIP });
      expect(await ask(pod, '/api')).toBe('system:serviceaccount:default:default');
    }

    await admin.call('PATCH', '/api/v1/namespaces/default/secrets/app', {
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { stringData: { word: 'second' } },
    });
    await eventually(async () => expect(await ask(pods[0]!, '/file')).toBe('second'));
  });

  it('shows a container that cannot stay as CrashLoopBackOff, with how it ended', async () => {
    await createPod('crashing', { args: ['exit 3'] });
    await eventually(async () => {
      const [status] = (await readPod('crashing')).status.containerStatuses!;
      expect(status).toMatchObject({
        ready: false,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode: 3, reason: 'Error' } },
      });
      expect(status!.restartCount).toBeGreaterThan(1);
    });
  });

  it('says what a container waits for, and goes on when it is there', async () => {
    await createPod('waiting', {
      args: ['test "$A" = b && sleep 1000'],
      envFrom: [{ configMapRef: { name: 'late' } }],
    });
    await eventually(async () => {
      const { containerStatuses } = (await readPod('waiting')).status;
      const message = 'configmap "late" not found';
      expect(containerStatuses![0]!.state).toEqual({ waiting: { reason: 'CreateContainerConfigError', message } });
    });
    await create('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' }, data: { A: 'b' } });
    await ready(['waiting']);
  });

  it('knows no image that it was not given', async () => {
    await createPod('unknown', { image: 'nobody/knows:1' });
    await eventually(async () => {
      const { containerStatuses } = (await readPod('unknown')).status;
      expect(containerStatuses![0]!.state).toMatchObject({ waiting: { reason: 'ErrImagePull' } });
    });
  });

  it('restarts a container whose liveness probe fails, and runs the commands of probes inside the container', async () => {
    const probe = { exec: { command: ['test', '-e', '/tmp/alive-in-here'] }, periodSeconds: 1 };
    await createPod('lively', { args: ['touch /tmp/alive-in-here; sleep 1000'], readinessProbe: probe });
    await ready(['lively']);
    const livenessProbe = { ...probe, failureThreshold: 1 };
    await createPod('dying', { args: ['trap "exit 0" TERM; sleep 1000 & wait'], livenessProbe });
    await eventually(async () => {
      expect((await readPod('dying')).status.containerStatuses![0]!.restartCount).toBeGreaterThan(0);
    });
  });

  it('runs init containers first and ends with what the containers gave', async () => {
    const volumeMounts = [{ name: 'shared', mountPath: '/shared' }];
    await createPod(
      'job',
      { args: ['test "$(cat /shared/word)" = hello'], volumeMounts },
      {
        restartPolicy: 'Never',
        volumes: [{ name: 'shared', emptyDir: {} }],
        initContainers: [{ name: 'first', image: 'shell:1', args: ['echo hello >/shared/word'], volumeMounts }],
      },
    );
    await eventually(async () => expect((await readPod('job')).status.phase).toBe('Succeeded'));
  });

  it('asks a container to end, kills it after its grace period, and only then lets the pod go', async () => {
    await createPod(
      'stubborn',
      {
        args: ['trap "" TERM; touch /tmp/deaf; while :; do sleep 0.1; done'],
        readinessProbe: { exec: { command: ['test', '-e', '/tmp/deaf'] }, periodSeconds: 1 },
      },
      { terminationGracePeriodSeconds: 2 },
    );
    const [pod] = await ready(['stubborn']);
    const deletedAt = performance.now();
    // The answer tells that the pod is still there: a busy machine may look again only when it is gone.
    const deleted = await admin.call<SeenPod>('DELETE', podPath('stubborn'));
    expect(deleted.metadata).toMatchObject({ uid: pod!.metadata.uid, deletionTimestamp: expect.any(String) });
    await eventually(async () => expect((await admin.send('GET', podPath('stubborn'))).status).toBe(404));
    expect(performance.now() - deletedAt).toBeGreaterThan(1_900);
  });
});
