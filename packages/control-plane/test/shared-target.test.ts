import { ClusterRoleBinding } from '@slipway/kube';
import { expect, test } from 'vitest';

import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { OpenIDConnect } from '../src/target/open-id-connect.ts';
import { everything, key, Landscape, mcp } from './landscape.ts';
import { RequestLog } from './request-log.ts';

const second = { ...key, name: 'second' };
const admin = { name: 'openmcp:admin' };

/** With somebody of its own who may change things. */
const of = (person: string) => ({
  ...everything,
  authorization: { roleBindings: [{ role: 'admin', subjects: [{ kind: 'User', name: `corp:${person}` }] }] },
  components: { apiServer: { type: 'Gardener' } },
});

test('a control plane that goes takes nothing from another one on the same API server, which keeps what is its own; the last leaves nothing', async () => {
  await using landscape = await Landscape.open();
  const { cluster, target } = landscape;
  const there = new RequestLog();
  landscape.throughTarget = (transport) => there.through(transport);
  const admins = async () => (await target.get(ClusterRoleBinding, admin))?.subjects?.map(({ name }) => name);
  await landscape.run();
  await cluster.client.create(mcp(of('ann'), second.name));
  await landscape.ready(second.name);
  await cluster.client.create(mcp(of('bob')));
  await landscape.ready();
  await cluster.eventually('bob has rights', async () => (await admins())?.includes('corp:bob'));

  there.clear();
  await cluster.client.delete(ManagedControlPlane, key);
  await landscape.gone();
  await cluster.eventually('bob has none any more', async () => !(await admins())?.includes('corp:bob'));
  expect(await admins()).toEqual(['corp:ann']);
  expect(there.writes.filter((write) => write.startsWith('DELETE'))).toEqual([]);
  await landscape.ready(second.name);

  await cluster.client.delete(ManagedControlPlane, second);
  await landscape.gone(second.name);
  expect(await admins()).toBeUndefined();
  expect(await Array.fromAsync(target.list(OpenIDConnect))).toEqual([]);
});
