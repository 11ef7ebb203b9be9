import { startCluster } from '@slipway/apiserver';
import { type KubeObject, toCustomResourceDefinition } from '@slipway/kube';
import { testCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { OpenIDConnect } from '../src/target/open-id-connect.ts';
import { controlPlaneOperator } from '../src/operator.ts';
import { tokenKubeconfig } from '../src/target/kubeconfig.ts';
import { type Target, Targets } from '../src/target/target.ts';
import { key, mcp, team } from './landscape.ts';
import { expectRights, inDefault, makeThings, mayLook, people } from './rights.ts';

const named = (name: string) => ({ kind: 'ServiceAccount', name, namespace: 'default' });
const spec = {
  authentication: { enableSystemIdentityProvider: false },
  authorization: {
    roleBindings: [
      { role: 'admin', subjects: [named('ann')] },
      { role: 'view', subjects: [named('bob')] },
    ],
  },
  components: { apiServer: { type: 'Gardener' } },
};

async function tokenOf({ client }: Target, name: string): Promise<string> {
  await client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: inDefault(name) });
  const answer = await client.request({
    method: 'POST',
    path: `/api/v1/namespaces/default/serviceaccounts/${name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  return (answer as { status: { token: string } }).status.token;
}

test('on a separate API server people have exactly the rights they were given, with real tokens over TLS', async () => {
  const crds = [toCustomResourceDefinition(OpenIDConnect) as never];
  await using server = await startCluster({ port: 0, tls: true, authorization: 'RBAC', crds });
  await using cluster = await testCluster({ kinds: controlPlaneOperator.kinds, objects: [team], time: 'machine' });
  await using targets = new Targets();
  const secret = { metadata: inDefault('target'), stringData: { kubeconfig: server.kubeconfig } };
  await cluster.client.create({ apiVersion: 'v1', kind: 'Secret', ...secret } as KubeObject);
  const flags = { provider: 'existing', 'existing-secret': 'default/target' };
  await cluster.run(controlPlaneOperator.controllers({ flags, env: {} }));
  const admin = await targets.connect(server.kubeconfig);
  await makeThings(admin.client);
  const tokens = await Promise.all(people.map((name) => tokenOf(admin, name)));
  await cluster.client.create(mcp(spec));
  await cluster.eventually(
    'it is ready',
    async () => (await cluster.client.get(ManagedControlPlane, key))?.status?.status === 'Ready',
  );

  const clients = await Promise.all(
    tokens.map(async (token) => (await targets.connect(tokenKubeconfig({ ...admin, token, user: 'user' }))).client),
  );
  await expectRights(cluster, clients);

  await cluster.client.delete(ManagedControlPlane, key);
  await cluster.eventually('it is gone', async () => !(await cluster.client.get(ManagedControlPlane, key)));
  expect(await Promise.all(clients.map(mayLook))).toEqual([false, false, false]);
});
