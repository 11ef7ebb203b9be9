import { join } from 'node:path';
import { type Client, type KubeObject, Namespace } from '@slipway/kube';
import { keptObjects, nowOf, restoreObjects } from '@slipway/testing';
import { expect, test } from 'vitest';

import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { key, Landscape } from './landscape.ts';
import { RequestLog } from './request-log.ts';

/** Longer than every poll of the contract; on real time as long as something that is under way takes. */
async function settle({ cluster }: Landscape): Promise<void> {
  await cluster.advance(cluster.embedded ? 180_000 : 3_000);
}

/** What a version had made of a control plane, without what was there before. Its keys and tokens are those of clusters that are long gone. */
const leftOn = (cluster: 'onboarding' | 'target') =>
  keptObjects(join(import.meta.dirname, 'upgrade', `0.1.0-${cluster}.jsonl`));

const uids = (client: Client, objects: readonly KubeObject[]) => nowOf(client, objects, (metadata) => metadata?.uid);

/** The control plane is the one it was, as far as the operator can tell. */
async function asBefore(objects: readonly KubeObject[], target: Client): Promise<KubeObject[]> {
  const { uid } = (await target.get(Namespace, { name: 'kube-system' }))!.metadata;
  const identity = Buffer.from(uid!).toString('base64');
  return objects.map((object) => {
    const data = object['data'] as Record<string, string> | undefined;
    return data?.['cluster-uid'] ? { ...object, data: { ...data, 'cluster-uid': identity } } : object;
  });
}

/** When the access to the control plane ends that was given then. */
function expiryOf(objects: readonly KubeObject[]): number {
  const [, time] = /"expirationTimestamp":"([^"]+)"/.exec(JSON.stringify(objects))!;
  return Date.parse(time!);
}

test('what 0.1.0 has left is taken over as it is, and goes when it is deleted', async () => {
  await using landscape = await Landscape.open();
  const { cluster, target } = landscape;
  const left = { here: await asBefore(await leftOn('onboarding'), target), there: await leftOn('target') };
  await restoreObjects({ ...cluster, client: target }, left.there);
  await restoreObjects(cluster, left.here);
  const allUids = async () => ({ ...(await uids(cluster.client, left.here)), ...(await uids(target, left.there)) });
  const before = await allUids();
  expect(Object.values(before)).not.toContain(undefined);

  const log = new RequestLog();
  landscape.throughTarget = (transport) => log.through(transport);
  await landscape.run(log.through(cluster.transport()));
  await settle(landscape);
  await landscape.ready();
  expect(await allUids()).toEqual(before);
  // Nothing is made or deleted for it; an access is asked for only where the old one has run out, as it has on real time.
  const ranOut = cluster.clock.now() > expiryOf(left.here);
  expect(log.writes.filter((write) => !write.startsWith('PATCH'))).toEqual(
    ranOut ? ['POST /api/v1/namespaces/openmcp-system/serviceaccounts/admin/token'] : [],
  );

  log.clear();
  await settle(landscape);
  expect(log.writes).toEqual([]);

  await cluster.client.delete(ManagedControlPlane, key);
  await landscape.gone();
  const remains = Object.entries(await allUids()).flatMap(([name, uid]) => (uid === undefined ? [] : [name]));
  // Our account on a control plane that is not ours to remove.
  expect(remains).toEqual(remains.filter((name) => /openmcp-system|admin--cluster-admin/.test(name)));
});
