import { startCluster } from '@slipway/apiserver';
import {
  type Client,
  ClusterRoleBinding,
  ConfigMap,
  isForbidden,
  type Kind,
  type KubeObject,
  Namespace,
  Secret,
  toCustomResourceDefinition,
} from '@slipway/kube';
import { testCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { OpenIDConnect } from '../src/target/open-id-connect.ts';
import { controlPlaneOperator } from '../src/operator.ts';
import { tokenKubeconfig } from '../src/target/kubeconfig.ts';
import { type Target, Targets } from '../src/target/target.ts';
import { key, mcp, team } from './landscape.ts';

const people = ['ann', 'bob', 'eve'] as const;
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

const object = (kind: Kind, name: string, more: object = {}): KubeObject => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name, ...(kind.scope === 'Namespaced' ? { namespace: 'default' } : {}) },
  ...more,
});
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
const inDefault = (name: string) => ({ namespace: 'default', name });

/** What somebody tries, and who of the three may. */
const attempts: readonly (readonly [what: string, who: string, attempt: (client: Client) => Promise<unknown>])[] = [
  ['look at a ConfigMap', 'ann bob', (client) => client.get(ConfigMap, inDefault('prices'))],
  ['make a ConfigMap', 'ann', (client) => client.create(object(ConfigMap, 'mine'), { dryRun: true })],
  [
    'change a ConfigMap',
    'ann',
    (client) => client.patch(ConfigMap, inDefault('prices'), { type: 'merge', body: { data: {} } }),
  ],
  ['delete a ConfigMap', 'ann', (client) => client.delete(ConfigMap, inDefault('prices'), { dryRun: true })],
  ['read a Secret', 'ann', (client) => client.get(Secret, inDefault('vault'))],
  ['look at namespaces', 'ann bob', (client) => client.get(Namespace, { name: 'default' })],
  ['make a namespace', 'ann', (client) => client.create(object(Namespace, 'team'), { dryRun: true })],
  ['look into a protected namespace', '', (client) => client.get(ConfigMap, { namespace: 'kube-system', name: 'x' })],
  [
    'give themselves all rights',
    '',
    (client) => client.create(object(ClusterRoleBinding, 'mine', { roleRef, subjects: [] }), { dryRun: true }),
  ],
];

async function isAllowed(attempt: Promise<unknown>): Promise<boolean> {
  try {
    await attempt;
    return true;
  } catch (error) {
    if (isForbidden(error)) return false;
    throw error;
  }
}

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
  await admin.client.create(object(ConfigMap, 'prices'));
  await admin.client.create(object(Secret, 'vault'));
  const tokens = await Promise.all(people.map((name) => tokenOf(admin, name)));
  await cluster.client.create(mcp(spec));
  await cluster.eventually(
    'it is ready',
    async () => (await cluster.client.get(ManagedControlPlane, key))?.status?.status === 'Ready',
  );

  const clients = await Promise.all(
    tokens.map(async (token) => (await targets.connect(tokenKubeconfig({ ...admin, token, user: 'user' }))).client),
  );
  // Roles are put together by a controller of the control plane, in its own time.
  await cluster.eventually('the roles are in force', () => isAllowed(attempts[1]![2](clients[0]!)));
  for (const [what, who, attempt] of attempts) {
    const allowed = await Promise.all(clients.map((client) => isAllowed(attempt(client))));
    expect({ what, who: people.filter((_name, index) => allowed[index]).join(' ') }).toEqual({ what, who });
  }

  await cluster.client.delete(ManagedControlPlane, key);
  await cluster.eventually('it is gone', async () => !(await cluster.client.get(ManagedControlPlane, key)));
  expect(await Promise.all(clients.map((client) => isAllowed(attempts[0]![2](client))))).toEqual([false, false, false]);
});
