import { type Kind, type KubeObject, kubeTime, Namespace, Secret } from '@slipway/kube';
import { onReference, skipped, testCluster, type TestCluster } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { APIServer } from '../src/api/components.ts';
import { apiServerComponent } from '../src/api-server/component.ts';
import {
  AccessRequest,
  Cluster,
  ClusterRequest,
  clusterRequestProvider,
} from '../src/api-server/providers/cluster-request.ts';
import { componentKinds } from '../src/component/component-type.ts';
import { componentController } from '../src/component/define-component.ts';
import { platformNamespace } from '../src/name-hashes.ts';
import { apiServer, StandIn } from './hosted-kit.ts';

const leftOut = skipped(
  onReference,
  'on the real API server: ClusterRequests, which are looked at once a minute; that needs virtual time',
);

describe.skipIf(leftOut)('API servers from the platform of the second architecture', () => {
  let cluster: TestCluster;
  let standIns: readonly [StandIn, StandIn];
  beforeAll(async () => {
    [cluster, ...standIns] = await Promise.all([
      testCluster({ kinds: [...Object.values(componentKinds), ClusterRequest, AccessRequest, Cluster] }),
      StandIn.start(),
      StandIn.start(),
    ]);
    const connect: StandIn['connect'] = async (kubeconfig) =>
      await standIns[kubeconfig.includes('elsewhere') ? 1 : 0].connect(kubeconfig);
    await cluster.run([componentController(apiServerComponent({ provider: clusterRequestProvider(), connect }))]);
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    for (const standIn of standIns) await standIn[Symbol.asyncDispose]();
  });

  const keyOf = (name: string) => ({ namespace: 'default', name });
  const onPlatform = (name: string, of = name) => ({ namespace: platformNamespace('default', name), name: of });

  /** Plays the platform. */
  async function report(kind: Kind, key: { namespace: string; name: string }, status: object): Promise<void> {
    await cluster.eventually(`${kind.kind} is there`, () => cluster.client.get(kind, key));
    await cluster.client.patch(kind, key, { type: 'merge', body: { status } }, { subresource: 'status' });
  }

  async function grantCluster(name: string): Promise<void> {
    const key = onPlatform(name, 'given');
    await report(ClusterRequest, onPlatform(name), { phase: 'Granted', cluster: key });
    const { apiVersion, kind } = Cluster;
    await cluster.client.create({ apiVersion, kind, metadata: key, spec: {} } as KubeObject);
    await report(Cluster, key, { phase: 'Ready' });
  }

  async function grantAccess(name: string, stringData: Record<string, string>): Promise<void> {
    await cluster.eventually('access is asked for', () => cluster.client.get(AccessRequest, onPlatform(name)));
    const metadata = onPlatform(name, 'access');
    await cluster.client.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData } as KubeObject);
    await report(AccessRequest, onPlatform(name), { phase: 'Granted', secretRef: { name: 'access' } });
  }

  const access = (kubeconfig: string, fromMs = cluster.clock.now()) => ({
    kubeconfig,
    creationTimestamp: String(Math.floor(fromMs / 1000)),
    expirationTimestamp: String(Math.floor(fromMs / 1000) + 3600),
  });

  const condition = (name: string, type: string, holds: (text: string) => boolean) =>
    cluster.eventually(`${type} of ${name}`, async () => {
      const found = await cluster.client.get(APIServer, keyOf(name));
      return found?.status?.conditions?.find(
        (each) => each.type === type && holds(`${each.status} ${each.reason} ${each.message}`),
      );
    });

  test('a control plane asks for a cluster, then for access, and gives both back in the other order', async () => {
    await cluster.client.create(apiServer({}, keyOf('life')));
    const waiting = await condition('life', 'ClusterRequestGranted', (text) => text.startsWith('False'));
    expect(waiting.reason).toBe('ClusterRequestNotGranted');
    expect(await condition('life', 'AccessRequestGranted', () => true)).toMatchObject({ status: 'Unknown' });
    expect((await cluster.client.get(ClusterRequest, onPlatform('life')))?.spec).toEqual({ purpose: 'mcp' });

    await grantCluster('life');
    const fromMs = cluster.clock.now();
    await grantAccess('life', access('of-the-platform', fromMs));
    await condition('life', 'APIServerHealthy', (text) => text.startsWith('True'));
    const ready = await cluster.client.get(APIServer, keyOf('life'));
    expect(ready?.status?.adminAccess).toMatchObject({
      secretRef: { name: 'life.apiserver-admin' },
      creationTimestamp: kubeTime(Math.floor(fromMs / 1000) * 1000),
    });
    const kept = await cluster.client.get(Secret, keyOf('life.apiserver-admin'));
    expect(Buffer.from(kept!.data!['kubeconfig']!, 'base64').toString()).toBe('of-the-platform');

    const held = { metadata: { finalizers: ['platform.example/held'] } };
    for (const kind of [AccessRequest, ClusterRequest])
      await cluster.client.patch(kind, onPlatform('life'), { type: 'merge', body: held });
    await cluster.client.delete(APIServer, keyOf('life'));
    await condition('life', 'AccessRequestDeleted', (text) => text.startsWith('False AccessRequestNotDeleted'));
    expect((await cluster.client.get(ClusterRequest, onPlatform('life')))?.metadata.deletionTimestamp).toBeUndefined();
    const released = { metadata: { finalizers: null } };
    await cluster.client.patch(AccessRequest, onPlatform('life'), { type: 'merge', body: released });
    await condition('life', 'ClusterRequestDeleted', (text) => text.startsWith('False ClusterRequestNotDeleted'));
    await cluster.client.patch(ClusterRequest, onPlatform('life'), { type: 'merge', body: released });
    await cluster.eventually(
      'it is gone',
      async () => (await cluster.client.get(APIServer, keyOf('life'))) === undefined,
    );
    // The platform's own, as the original leaves it.
    expect(await cluster.client.get(Namespace, { name: onPlatform('life').namespace })).toBeDefined();
  });

  test('a request that is denied says why, in the words of the platform', async () => {
    await cluster.client.create(apiServer({ type: 'GardenerDedicated' }, keyOf('denied')));
    const conditions = [{ type: 'Granted', status: 'False', reason: 'NoQuota', message: 'no workers left' }];
    await report(ClusterRequest, onPlatform('denied'), { phase: 'Denied', conditions });
    const said = await condition('denied', 'APIServerHealthy', (text) => text.includes('no workers left'));
    expect(said).toMatchObject({
      status: 'False',
      reason: 'ClusterRequestNotGranted',
      message: 'Waiting: [NoQuota] no workers left',
    });
    expect((await cluster.client.get(ClusterRequest, onPlatform('denied')))?.spec).toEqual({ purpose: 'mcp-worker' });
  });

  test.each([
    ['no kubeconfig', { creationTimestamp: '1', expirationTimestamp: '2' }, /has no kubeconfig/],
    ['no time', { kubeconfig: 'canary-kubeconfig-text' }, /has no creationTimestamp/],
    [
      'a time that is none',
      { kubeconfig: 'canary-kubeconfig-text', creationTimestamp: 'soon' },
      /creationTimestamp .* is no time/,
    ],
  ])('access with %s is a problem of the platform', async (what, data, says) => {
    const name = what.replaceAll(' ', '-');
    await cluster.client.create(apiServer({}, keyOf(name)));
    await grantCluster(name);
    await grantAccess(name, data);
    const said = await condition(name, 'APIServerReconciliation', (text) =>
      text.includes('PlatformClusterInteractionProblem'),
    );
    expect(said.message).toMatch(says);
    expect(said.message).not.toContain('canary');
  });

  test('access that leads to another cluster than before is not passed on', async () => {
    await cluster.client.create(apiServer({}, keyOf('moved')));
    await grantCluster('moved');
    await grantAccess('moved', access('here'));
    await condition('moved', 'APIServerHealthy', (text) => text.startsWith('True'));
    await grantAccess('moved', access('elsewhere'));
    const said = await condition('moved', 'APIServerReconciliation', (text) =>
      text.includes('APIServerIdentityChanged'),
    );
    expect(said.message).toMatch(/another cluster than before/);
    const kept = await cluster.client.get(Secret, keyOf('moved.apiserver-admin'));
    expect(Buffer.from(kept!.data!['kubeconfig']!, 'base64').toString()).toBe('here');
  });
});
