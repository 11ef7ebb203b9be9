import { type KubeObject, kubeTime, Namespace, Secret, seconds } from '@slipway/kube';
import { onReference, skipped, testCluster, type TestCluster, type TestManager } from '@slipway/testing';
import { expect, test } from 'vitest';

import { APIServer } from '../src/api/components.ts';
import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { apiServerComponent } from '../src/api-server/component.ts';
import { existingProvider } from '../src/api-server/providers/existing.ts';
import { componentKinds } from '../src/component/component-type.ts';
import { componentController } from '../src/component/define-component.ts';
import { names } from '../src/names.ts';
import { targetSecret, TargetStandIn, warmTokens } from '../src/testing/index.ts';
import { apiServer, key } from './hosted-kit.ts';
import { key as mcpKey, Landscape, mcp } from './landscape.ts';

const tokenSeconds = 600;

/** An onboarding cluster that is also the control plane, and the controller of APIServers with the provider `existing`. */
async function opened(objects: readonly KubeObject[] = [targetSecret]) {
  const cluster = await testCluster({ kinds: Object.values(componentKinds), objects });
  await warmTokens(cluster);
  const existing = existingProvider({ secret: { namespace: 'default', name: 'target', key: 'kubeconfig' } });
  const { connect } = new TargetStandIn(() => cluster);
  const operate = (name = existing.name): Promise<TestManager> => {
    const provider = { ...existing, name };
    return cluster.run([componentController(apiServerComponent({ provider, connect, adminAccess: { tokenSeconds } }))]);
  };
  await cluster.client.create(apiServer());
  return Object.assign(cluster, { operate });
}

async function kubeconfig({ client }: TestCluster): Promise<string | undefined> {
  const secret = await client.get(Secret, { ...key, name: `${key.name}.apiserver-admin` });
  return secret?.data?.['kubeconfig'];
}

async function said({ client }: TestCluster, reason: string) {
  const { conditions = [] } = (await client.get(APIServer, key))?.status ?? {};
  return conditions.find((condition) => condition.reason === reason);
}

async function ready(cluster: TestCluster): Promise<APIServer> {
  return await cluster.eventually('it is ready', async () => {
    const found = await cluster.client.get(APIServer, key);
    const { conditions = [] } = found?.status ?? {};
    return conditions.length > 0 && conditions.every(({ status }) => status === 'True') ? found : undefined;
  });
}

const needsTime = skipped(onReference, 'on the real API server: the life of a token, which needs virtual time');

test.skipIf(needsTime)('our access is renewed when four fifths of its life are over, and not before', async () => {
  await using cluster = await opened();
  await cluster.operate();
  await ready(cluster);
  const before = await kubeconfig(cluster);
  await cluster.advance(seconds(tokenSeconds * 0.79));
  expect(await kubeconfig(cluster)).toBe(before);
  await cluster.advance(seconds(tokenSeconds * 0.02));
  const after = await kubeconfig(cluster);
  expect(after).not.toBe(before);
  // And again, four fifths later.
  await cluster.advance(seconds(tokenSeconds * 0.81));
  expect(await kubeconfig(cluster)).not.toBe(after);
});

test('access that came due while no operator ran is renewed by the next one', async () => {
  await using cluster = await opened();
  const first = await cluster.operate();
  await ready(cluster);
  const before = await kubeconfig(cluster);
  await first.stop();
  const nowMs = cluster.clock.now();
  const adminAccess = {
    creationTimestamp: kubeTime(nowMs - seconds(1000)),
    expirationTimestamp: kubeTime(nowMs + seconds(100)),
  };
  const body = { status: { adminAccess } };
  await cluster.client.patch(APIServer, key, { type: 'merge', body }, { subresource: 'status' });
  await cluster.operate();
  await cluster.eventually('it has another', async () => (await kubeconfig(cluster)) !== before);
  await cluster.eventually('the status says until when', async () => {
    const { status } = (await cluster.client.get(APIServer, key))!;
    return status?.adminAccess?.expirationTimestamp !== adminAccess.expirationTimestamp;
  });
});

const emptySecret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: targetSecret.metadata };

test.each([
  ['does not exist', [], /^Secret default\/target with the kubeconfig of the API server does not exist; create it$/],
  ['has no kubeconfig', [emptySecret], /^Secret default\/target has no key kubeconfig with the kubeconfig/],
])('the Secret of an existing API server that %s is a condition that says what to do', async (_what, objects, says) => {
  await using cluster = await opened(objects);
  await cluster.operate();
  const condition = await cluster.eventually('it says so', () => said(cluster, 'ConfigurationProblem'));
  expect(condition.message).toMatch(says);
  await cluster.client.apply(targetSecret);
  await ready(cluster);
});

test("somebody else's object in the place of ours is never adopted, and the condition names it", async () => {
  await using cluster = await opened();
  const place = { name: names.systemNamespace };
  await cluster.client.create({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { ...place, labels: { team: 'other' } },
  });
  await cluster.operate();
  const condition = await cluster.eventually('it says so', () =>
    said(cluster, 'APIServerAccessProvisioningNotPossible'),
  );
  expect(condition.message).toBe(
    'Namespace openmcp-system on the control plane is not ours (label apiserver.openmcp.cloud/managed); rename or remove it',
  );
  expect((await cluster.client.get(Namespace, place))?.metadata.labels).toMatchObject({ team: 'other' });
  const body = { metadata: { labels: { [names.apiServerManagedLabel]: 'true' } } };
  await cluster.client.patch(Namespace, place, { type: 'merge', body });
  await ready(cluster);
});

test('a control plane does not move to another provider: an operator with that neither makes it again nor forgets the first', async () => {
  await using cluster = await opened();
  const { client } = cluster;
  const first = await cluster.operate('hosted');
  await ready(cluster);
  await first.stop();

  const second = await cluster.operate('embedded');
  const condition = await cluster.eventually('it says so', () => said(cluster, 'ConfigurationProblem'));
  expect(condition).toMatchObject({
    status: 'False',
    message:
      'this API server comes from the provider hosted, and the operator runs with embedded; control planes do not move: start it with --provider hosted',
  });
  await client.delete(APIServer, key);
  const going = await cluster.eventually('it has seen that it is to go', async () => {
    const found = await client.get(APIServer, key);
    return found?.status?.observedGenerations?.resource === found?.metadata.generation ? found : undefined;
  });
  expect(going.metadata.finalizers).toEqual(['openmcp.cloud.apiserver']);
  await second.stop();

  await cluster.operate('hosted');
  await cluster.eventually('it is gone', async () => (await client.get(APIServer, key)) === undefined);
});

test('with --inline-kubeconfig admin kubeconfigs are in the status of the APIServer, in no Secret, and not in what customers see', async () => {
  await using landscape = await Landscape.open();
  const { client } = landscape.cluster;
  landscape.flags = { 'inline-kubeconfig': 'true' };
  await client.create(mcp());
  await landscape.run();
  const found = await landscape.ready();
  const { adminAccess } = (await client.get(APIServer, mcpKey))!.status!;
  const token = /token: (\S+)/.exec(adminAccess?.kubeconfig ?? '')?.[1];
  expect(token).toMatch(/^[\w.-]{100,}$/);
  expect(await client.get(Secret, { ...mcpKey, name: `${mcpKey.name}.apiserver-admin` })).toBeUndefined();
  expect(JSON.stringify(found)).not.toContain(token);
  await client.delete(ManagedControlPlane, mcpKey);
  await landscape.gone();
});
