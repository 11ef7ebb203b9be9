import { setTimeout as wait } from 'node:timers/promises';
import { ensureReferenceBinaries, startReferenceCluster } from '@slipway/reference-cluster';
import { startCluster, systemClock, type Clock } from '../../src/index.ts';
import type { CaseGroup } from './case.ts';
import { Target } from './target.ts';

export interface RunningTarget extends AsyncDisposable {
  readonly target: Target;
}

/** Waits a tenth of what it is asked to: answers that come late by design (timeouts) need not come late in tests. */
const hurriedClock: Clock = {
  now: () => systemClock.now(),
  schedule: (delayMs, run) => systemClock.schedule(delayMs / 10, run),
};

/** The embedded server over HTTPS with RBAC, as the real one is run. */
export async function embeddedTarget({ controllers = 'none' }: CaseGroup): Promise<RunningTarget> {
  const cluster = await startCluster({ port: 0, tls: true, authorization: 'RBAC', controllers, clock: hurriedClock });
  const target = new Target({
    url: cluster.url,
    settleMs: 0,
    compact: async () => cluster.compact(),
    ...credentialsIn(cluster.kubeconfig),
  });
  return {
    target,
    async [Symbol.asyncDispose]() {
      target[Symbol.dispose]();
      await cluster.stop();
    },
  };
}

export async function referenceTarget({ controllers = 'none' }: CaseGroup): Promise<RunningTarget> {
  const cluster = await startReferenceCluster(controllers === 'none' ? {} : { controllers: true, simulateNodes: 1 });
  const target = new Target({
    url: cluster.url,
    ca: cluster.ca,
    cert: cluster.adminCert,
    key: cluster.adminKey,
    settleMs: 300,
    compact: () => compactEtcd(cluster.etcdUrl),
  });
  // What the server creates for itself comes a moment after it is ready.
  for (let round = 0; round < 100; round += 1) {
    const { status } = await target.send({
      method: 'GET',
      path: '/api/v1/namespaces/default/services/kubernetes',
      headers: {},
    });
    if (status === 200) break;
    await wait(100);
  }
  return {
    target,
    async [Symbol.asyncDispose]() {
      target[Symbol.dispose]();
      await cluster.stop();
    },
  };
}

/** Through the JSON form of etcd's API, which needs no client. */
async function compactEtcd(url: string): Promise<void> {
  using etcd = new Target({ url, settleMs: 0, compact: () => Promise.resolve() });
  const call = async (path: string, body: object) => {
    const answer = await etcd.send({ method: 'POST', path, headers: {}, body: JSON.stringify(body) });
    if (answer.status !== 200) throw new Error(`etcd ${path}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text) as { header: { revision: string } };
  };
  const { header } = await call('/v3/kv/range', { key: Buffer.from('any').toString('base64') });
  await call('/v3/kv/compaction', { revision: header.revision, physical: true });
}

/** Why there is no real server to ask, or undefined when there is one. */
export async function whyNoReference(): Promise<string | undefined> {
  const found = await ensureReferenceBinaries({ build: false });
  return found.available ? undefined : found.reason;
}

function credentialsIn(kubeconfig: string): { ca: string; cert: string; key: string } {
  const read = (field: string) => {
    const found = new RegExp(`${field}: "?([\\w+/=]+)`).exec(kubeconfig)?.[1];
    if (!found) throw new Error(`the kubeconfig has no ${field}`);
    return Buffer.from(found, 'base64').toString();
  };
  return {
    ca: read('certificate-authority-data'),
    cert: read('client-certificate-data'),
    key: read('client-key-data'),
  };
}
