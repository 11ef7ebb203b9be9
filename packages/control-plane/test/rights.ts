import {
  type Client,
  ClusterRoleBinding,
  ConfigMap,
  isForbidden,
  type Kind,
  type KubeObject,
  Namespace,
  Secret,
} from '@slipway/kube';
import type { TestCluster } from '@slipway/testing';
import { expect } from 'vitest';

/** One who may change things, one who may look, and one who may nothing. */
export const people = ['ann', 'bob', 'eve'] as const;

const object = (kind: Kind, name: string, more: object = {}): KubeObject => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name, ...(kind.scope === 'Namespaced' ? { namespace: 'default' } : {}) },
  ...more,
});
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
export const inDefault = (name: string) => ({ namespace: 'default', name });

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

/** What they try it on. */
export async function makeThings(admin: Client): Promise<void> {
  await admin.create(object(ConfigMap, 'prices'));
  await admin.create(object(Secret, 'vault'));
}

export const mayLook = (client: Client): Promise<boolean> => isAllowed(attempts[0]![2](client));

/** Each of the people, with a client of their own, may do exactly what is theirs. */
export async function expectRights(cluster: TestCluster, clients: readonly Client[]): Promise<void> {
  // Roles are put together by a controller of the control plane, in its own time.
  await cluster.eventually('the roles are in force', () => isAllowed(attempts[1]![2](clients[0]!)));
  for (const [what, who, attempt] of attempts) {
    const allowed = await Promise.all(clients.map((client) => isAllowed(attempt(client))));
    expect({ what, who: people.filter((_name, index) => allowed[index]).join(' ') }).toEqual({ what, who });
  }
}
