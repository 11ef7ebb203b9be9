import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type KubeObject, Secret } from '@slipway/kube';
import { testCluster, type TestCluster } from '@slipway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { APIServer } from '../src/api/components.ts';
import { apiServerComponent } from '../src/api-server/component.ts';
import type { ApiServerProvider } from '../src/api-server/provider.ts';
import { componentKinds } from '../src/component/component-type.ts';
import { componentController } from '../src/component/define-component.ts';
import { names } from '../src/names.ts';
import { tokenKubeconfig } from '../src/target/kubeconfig.ts';
import { type ConnectTarget, Targets } from '../src/target/target.ts';
import { apiServer, StandIn } from './hosted-kit.ts';

const canary = 'canary-token-0123456789abcdef';

const status =
  (code: number): RequestListener =>
  (_request, answer) => {
    const reason = { 401: 'Unauthorized', 403: 'Forbidden', 500: 'InternalError' }[code];
    const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `no, ${canary}` };
    answer.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
const says =
  (text: string): RequestListener =>
  (_request, answer) =>
    void answer.writeHead(200, { 'content-type': 'application/json' }).end(text);

/** Targets as bad as they get, and what is said about each. */
const bad: Readonly<Record<string, { answer: RequestListener; reason: string; message: RegExp }>> = {
  html: {
    answer: says(`<html>${canary}</html>`),
    reason: 'APIServerUnreachable',
    message: /not as an API server does; check its address/,
  },
  empty: {
    answer: says('{}'),
    reason: 'APIServerUnreachable',
    message: /not as an API server does; check its address/,
  },
  null: {
    answer: says('null'),
    reason: 'APIServerUnreachable',
    message: /not as an API server does; check its address/,
  },
  broken: { answer: status(500), reason: 'APIServerUnreachable', message: /does not answer; check that it runs/ },
  gone: {
    answer: (request) => void request.socket.destroy(),
    reason: 'APIServerUnreachable',
    message: /does not answer; check that it runs/,
  },
  expired: { answer: status(401), reason: 'APIServerAccessRefused', message: /expired or were withdrawn: renew/ },
  powerless: { answer: status(403), reason: 'APIServerAccessRefused', message: /has to be an administrator's/ },
};

let cluster: TestCluster;
let standIns: [StandIn, StandIn];
const targets = new Targets({ requestTimeoutMs: 60_000 });
const servers = new Map<string, string>();
/** Requests nobody answers. */
let hanging = 0;
/** Which cluster is behind the good address. */
let behind: 0 | 1 = 0;
const closing: (() => void)[] = [];

async function serve(name: string, answer: RequestListener): Promise<void> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.set(name, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
}

/** Each control plane has the target of its name; what is not a bad one is a good one. */
const provider: ApiServerProvider = {
  name: 'by-name',
  ensure: async ({ key }) => {
    const server = servers.get(key.name.replace(/-\d+$/, '')) ?? 'https://good.example';
    return { ready: true, bootstrapKubeconfig: tokenKubeconfig({ server, token: canary, user: 'admin' }) };
  },
  remove: async () => undefined,
};
const connect: ConnectTarget = async (kubeconfig) =>
  kubeconfig.includes('http:') ? await targets.connect(kubeconfig) : await standIns[behind].connect(kubeconfig);

beforeAll(async () => {
  [cluster, ...standIns] = await Promise.all([
    testCluster({ kinds: Object.values(componentKinds), time: 'machine' }),
    StandIn.start(),
    StandIn.start(),
  ]);
  for (const [name, { answer }] of Object.entries(bad)) await serve(name, answer);
  await serve('hole', () => (hanging += 1));
  await cluster.run([componentController(apiServerComponent({ provider, connect }))]);
});
afterAll(async () => {
  for (const close of closing) close();
  await targets[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
  for (const standIn of standIns) await standIn[Symbol.asyncDispose]();
});

const keyOf = (name: string) => ({ namespace: 'default', name });
const make = (name: string): Promise<KubeObject> => cluster.client.create(apiServer({}, keyOf(name)));
const conditions = async (name: string) => (await cluster.client.get(APIServer, keyOf(name)))?.status?.conditions ?? [];
const isReady = async (name: string) => {
  const all = await conditions(name);
  return all.length > 0 && all.every((condition) => condition.status === 'True');
};

test('twenty targets that never answer do not delay one that does', async () => {
  for (let index = 0; index < 20; index += 1) await make(`hole-${index}`);
  await cluster.eventually('all of them are asked', () => hanging >= 20);
  await make('beside-holes');
  await cluster.eventually('the good one is ready', () => isReady('beside-holes'));
  // None of the others has been given up yet.
  expect(hanging).toBe(20);
  expect(await conditions('hole-0')).toEqual([]);
});

test.each(Object.entries(bad))(
  'a target that is %s: its condition says what to do',
  async (name, { reason, message }) => {
    await make(name);
    const said = await cluster.eventually('it says so', async () =>
      (await conditions(name)).find((condition) => condition.reason === reason),
    );
    expect(said.status).toBe('False');
    expect(said.message).toMatch(message);
    expect(JSON.stringify(await conditions(name))).not.toContain(canary);
    expect(await isReady('beside-holes')).toBe(true);
  },
);

test('a target that has become another cluster is not used until somebody says that this is meant', async () => {
  await make('moved');
  await cluster.eventually('it is ready', () => isReady('moved'));
  behind = 1;
  const body = { metadata: { annotations: { [names.operationAnnotation]: 'reconcile' } } };
  await cluster.client.patch(APIServer, keyOf('moved'), { type: 'merge', body });
  const said = await cluster.eventually('it says so', async () =>
    (await conditions('moved')).find(({ reason }) => reason === 'APIServerIdentityChanged'),
  );
  expect(said.message).toMatch(/another cluster than before; .* delete Secret default\/moved\.apiserver-admin/);
  await cluster.client.delete(Secret, keyOf('moved.apiserver-admin'));
  await cluster.client.patch(APIServer, keyOf('moved'), { type: 'merge', body });
  await cluster.eventually('it is ready again', () => isReady('moved'));
});

test.each(['hole-0', 'gone', 'expired'])('%s: a control plane whose target is lost can be deleted', async (name) => {
  await cluster.client.delete(APIServer, keyOf(name));
  await cluster.eventually('it is gone', async () => {
    // A pass that still waits for the target has to end first.
    for (const close of name.startsWith('hole') ? closing.splice(-1) : []) close();
    return (await cluster.client.get(APIServer, keyOf(name))) === undefined;
  });
});
