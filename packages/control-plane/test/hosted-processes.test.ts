import { execFile } from 'node:child_process';
import { readdir, readFile, rm, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { days, type KubeObject, Namespace, PersistentVolumeClaim, Pod, Secret, seconds, Service } from '@slipway/kube';
import type { TestCluster, TestManager } from '@slipway/testing';
import { afterAll, describe, expect, test } from 'vitest';

import { APIServer } from '../src/api/components.ts';
import type { HostedSettings } from '../src/api-server/providers/hosted/settings.ts';
import { Targets } from '../src/target/target.ts';
import { apiServer, hostedController, key, place, version, whenIs } from './hosted-kit.ts';
import { binaries, hostOfProcesses, images, leftOut, nextVersion } from './process-host.ts';

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'hosted-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A hosted control plane of real programs, and kubectl on it. */
class Stage implements AsyncDisposable {
  readonly cluster: TestCluster;
  readonly #targets = new Targets();
  #operator: TestManager | undefined;

  constructor(cluster: TestCluster) {
    this.cluster = cluster;
  }

  /** Another operator in place of the one before. */
  async operate(changes: Partial<HostedSettings>): Promise<void> {
    await this.#operator?.stop();
    const service = { type: 'LoadBalancer', annotations: {} } as const;
    const controller = hostedController(this.#targets.connect, { images, service, ...changes }, seconds(1));
    this.#operator = await this.cluster.run([controller]);
  }

  async settled(wanted: string): Promise<void> {
    await this.cluster.eventually(`the control plane is at rest in version ${wanted}`, () =>
      whenIs(this.cluster, wanted),
    );
  }

  /** With the kubeconfig our controllers have. */
  async kubectl(...args: string[]): Promise<string> {
    const secret = await this.cluster.client.get(Secret, { namespace: 'default', name: 'demo.apiserver-admin' });
    const file = join(folder, 'kubeconfig');
    await writeFile(file, Buffer.from(secret!.data!['kubeconfig']!, 'base64'), { mode: 0o600 });
    const kubectl = binaries?.kubectl ?? '';
    const { stdout } = await run(kubectl, ['--kubeconfig', file, '--request-timeout=10s', ...args]);
    return stdout.trim();
  }

  /** What kubectl makes is answered by the controllers: a Deployment gets its ReplicaSet. */
  async works(name: string): Promise<void> {
    await this.cluster.eventually('kubectl can write', async () => {
      await this.kubectl('create', 'deployment', name, '--image=app:1').catch(async (error: unknown) => {
        if (!(await this.kubectl('get', 'deployment', name, '-o', 'name').catch(() => ''))) throw error;
      });
      return true;
    });
    await this.cluster.eventually('a controller answers', () =>
      this.kubectl('get', 'replicasets', '-l', `app=${name}`, '-o', 'name'),
    );
  }

  async pod(component: string): Promise<Pod> {
    const [pod] = await this.pods(component, 1);
    return pod!;
  }

  async pods(component: string, count: number): Promise<Pod[]> {
    return await this.cluster.eventually(`pods of ${component}: ${count}`, async () => {
      const labelSelector = { 'app.kubernetes.io/component': component };
      const { items } = await this.cluster.client.listPage(Pod, { namespace: place, labelSelector });
      const lasting = items.filter(({ metadata }) => !metadata.deletionTimestamp);
      return lasting.length === count ? lasting : undefined;
    });
  }

  /** What it was doing, when it does not do it. */
  async explained(error: unknown, done: readonly string[]): Promise<Error> {
    const said = (await this.cluster.client.get(APIServer, key))?.status?.conditions;
    const logs = (await this.cluster.logs?.()) ?? '';
    return new Error(`${String(error)}\n${done.join(', ')}\n${JSON.stringify(said)}\n${logs}`, { cause: error });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#operator?.stop();
    await this.#targets[Symbol.asyncDispose]();
  }
}

const privileged: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: place, name: 'privileged' },
  spec: { containers: [{ name: 'main', image: 'app:1', securityContext: { privileged: true } }] },
};

const restarts = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0;

/** The process of a container, by the name its pod gave it. */
async function processOf(program: string, pod: Pod): Promise<number> {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const read = (file: string) => readFile(`/proc/${entry}/${file}`, 'utf8').catch(() => '');
    const [name] = (await read('cmdline')).split('\0');
    if (name !== program) continue;
    if ((await read('environ')).split('\0').includes(`HOSTNAME=${pod.metadata.name}`)) return Number(entry);
  }
  throw new Error(`no process ${program} for the pod ${pod.metadata.name}`);
}

function servedCertificate(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()!.fingerprint256);
      socket.destroy();
    }).once('error', reject);
  });
}

describe.skipIf(leftOut)('a hosted control plane of real programs', () => {
  test(
    'works with kubectl through an upgrade, new certificates and the death of each of its processes, and goes without a trace',
    { timeout: 600_000 },
    async () => {
      await using cluster = await hostOfProcesses();
      await using stage = new Stage(cluster);
      const { client } = cluster;
      const laps: string[] = [];
      let since = performance.now();
      const lap = (what: string): void => {
        laps.push(`${what} ${((performance.now() - since) / 1000).toFixed(1)} s`);
        since = performance.now();
      };
      try {
        await stage.operate({});
        await client.create(apiServer());
        await stage.settled(version);
        await stage.works('first');
        // The real API server lets only pods without privileges into the namespace: ours came in.
        await expect(client.create(privileged)).rejects.toMatchObject({ code: 403 });
        lap('made');

        const etcdBefore = await stage.pod('etcd');
        await stage.operate({ version: nextVersion });
        await stage.settled(nextVersion);
        expect((await stage.pod('apiserver')).spec?.containers[0]?.image).toContain(`:v${nextVersion}`);
        expect((await stage.pod('controller-manager')).spec?.containers[0]?.image).toContain(`:v${nextVersion}`);
        expect((await stage.pod('etcd')).metadata.uid).toBe(etcdBefore.metadata.uid);
        expect(await stage.kubectl('get', 'deployments', '-o', 'name')).toBe('deployment.apps/first');
        await stage.works('after-upgrade');
        lap('upgraded');

        const { endpoint } = (await client.get(APIServer, key))!.status!;
        const [certificateBefore, serverBefore] = [await servedCertificate(endpoint!), await stage.pod('apiserver')];
        const controllersBefore = await stage.pod('controller-manager');
        // With a longer life, what is there has less than a third of it left.
        await stage.operate({ version: nextVersion, certificateLifeMs: days(1800) });
        await cluster.eventually(
          'a new certificate is served',
          async () => (await servedCertificate(endpoint!)) !== certificateBefore,
        );
        await cluster.eventually('the controller manager has a new one', async () => {
          return (await stage.pod('controller-manager')).metadata.uid !== controllersBefore.metadata.uid;
        });
        await stage.settled(nextVersion);
        await stage.works('after-rotation');
        const serverAfter = await stage.pod('apiserver');
        expect([serverAfter.metadata.uid, restarts(serverAfter)]).toEqual([
          serverBefore.metadata.uid,
          restarts(serverBefore),
        ]);
        lap('renewed');

        for (const [component, program] of [
          ['etcd', 'etcd'],
          ['apiserver', 'kube-apiserver'],
          ['controller-manager', 'kube-controller-manager'],
        ] as const) {
          const before = await stage.pod(component);
          process.kill(await processOf(program, before), 'SIGKILL');
          await cluster.eventually(
            `${component} runs again`,
            async () => restarts(await stage.pod(component)) > restarts(before),
          );
          await stage.works(`after-${component}`);
        }
        expect((await stage.kubectl('get', 'deployments', '-o', 'name')).split('\n')).toHaveLength(6);
        await stage.settled(nextVersion);
        lap('killed three times');

        await client.delete(APIServer, key);
        await cluster.eventually('it is gone', async () => (await client.get(APIServer, key)) === undefined);
        expect(await client.get(Namespace, { name: place })).toBeUndefined();
        expect((await client.listPage(PersistentVolumeClaim)).items).toEqual([]);
        expect((await client.listPage(Pod)).items).toEqual([]);
        lap('removed');
        // oxlint-disable-next-line no-console -- how long each part takes is part of the result
        console.log(laps.join(', '));
      } catch (error) {
        throw await stage.explained(error, laps);
      }
    },
  );

  test(
    'with three members of etcd and two API servers behind a port of the node goes on while one of each does not answer',
    { timeout: 600_000 },
    async () => {
      await using cluster = await hostOfProcesses();
      await using stage = new Stage(cluster);
      const { client } = cluster;
      const done: string[] = [];
      try {
        await stage.operate({
          etcd: { members: 3, storage: '1Gi' },
          apiServer: { replicas: 2, extraArgs: [] },
          service: { type: 'NodePort', annotations: {}, externalHost: cluster.hostAddress! },
        });
        await client.create(apiServer());
        await stage.settled(version);
        const { endpoint } = (await client.get(APIServer, key))!.status!;
        const service = await client.get(Service, { namespace: place, name: 'apiserver' });
        expect(endpoint).toBe(`https://${cluster.hostAddress}:${service?.spec?.ports?.[0]?.nodePort}`);
        await stage.works('first');
        done.push('made');

        const members = await stage.pods('etcd', 3);
        const servers = await stage.pods('apiserver', 2);
        for (const [program, pod] of [
          ['etcd', members[0]!],
          ['etcd', members[2]!],
          ['kube-apiserver', servers[0]!],
        ] as const) {
          const pid = await processOf(program, pod);
          process.kill(pid, 'SIGSTOP');
          try {
            await stage.works(`without-${pod.metadata.name}`);
          } finally {
            process.kill(pid, 'SIGCONT');
          }
          done.push(`without ${pod.metadata.name}`);
        }
        process.kill(await processOf('etcd', members[1]!), 'SIGKILL');
        await stage.works('after-a-member');
        await stage.settled(version);
        expect((await stage.kubectl('get', 'deployments', '-o', 'name')).split('\n')).toHaveLength(5);
      } catch (error) {
        throw await stage.explained(error, done);
      }
    },
  );
});
