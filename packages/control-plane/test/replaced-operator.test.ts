import { ClusterRole, Secret, type Transport, type TransportRequest } from '@slipway/kube';
import { KillableTransport, onReference, SeededRandom, skipped, stormSeeds, type TestManager } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { APIServer, Authorization } from '../src/api/components.ts';
import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { managedBy as roleLabel } from '../src/authorization/roles.ts';
import { OpenIDConnect } from '../src/target/open-id-connect.ts';
import { key, Landscape, mcp } from './landscape.ts';

/** What the older operator is started with: it keeps its access where the original does. */
const olderFlags = { 'inline-kubeconfig': 'true' };

/** What the older operator does not know yet. */
const newestCondition = 'AuthorizationHealthy';

type Status = { conditions?: { type: string }[] };

/** As the older operator writes: without the newest condition. */
function olderWriting(inner: Transport): Transport {
  const older = (request: TransportRequest): TransportRequest => {
    if (!/\/authorizations\/[^/]+\/status/.test(request.path)) return request;
    const body = JSON.parse(String(request.body)) as { status?: Status };
    const { conditions, ...rest } = body.status ?? {};
    const known = conditions?.filter(({ type }) => type !== newestCondition);
    return {
      ...request,
      body: JSON.stringify({ ...body, status: { ...rest, ...(known ? { conditions: known } : {}) } }),
    };
  };
  return {
    send: (request, signal) => inner.send(older(request), signal),
    open: (request, handler) => inner.open(request, handler),
    close: () => inner.close(),
  };
}

/** How the older operator makes place: it is killed, or it works on for a while beside the newer one, which did not wait for it. */
type Parting = 'is killed' | 'works on beside the newer one';

/** Lets the older operator begin with `act`; at its write number `at`, on whichever cluster, the newer one comes. */
async function replaceAmid(
  landscape: Landscape,
  act: () => Promise<unknown>,
  at: number,
  parting: Parting,
): Promise<TestManager> {
  const { cluster } = landscape;
  let writes = 0;
  const isReached = (): boolean => writes >= at;
  const point = ({ method }: TransportRequest, phase: 'before' | 'after'): boolean => {
    if (method !== 'GET' && phase === 'after') writes += 1;
    return parting === 'is killed' && isReached();
  };
  const transport = new KillableTransport(olderWriting(cluster.transport()), point);
  landscape.flags = olderFlags;
  const older = await cluster.run(landscape.controllers(transport), { cluster: { transport } });
  await act();
  await cluster.eventually(`the older operator has written ${at} times`, isReached);

  landscape.flags = {};
  const newer = await landscape.run();
  if (parting !== 'is killed') await cluster.advance(5_000);
  transport.kill();
  await stopped(landscape, older);
  return newer;
}

/** One that was killed waits for answers that never come, until its time to stop is over. */
async function stopped({ cluster }: Landscape, operator: TestManager): Promise<void> {
  let isStopped = false;
  const stopping = operator.stop().then(() => (isStopped = true));
  await cluster.eventually('the operator has stopped', () => isStopped);
  await stopping;
}

async function isAsTheNewerMakesIt({ cluster }: Landscape): Promise<boolean> {
  const { conditions = [] } = (await cluster.client.get(Authorization, key))?.status ?? {};
  expect(conditions).toContainEqual(expect.objectContaining({ type: newestCondition, status: 'True' }));
  const { adminAccess } = (await cluster.client.get(APIServer, key))?.status ?? {};
  expect(adminAccess).toMatchObject({ secretRef: { name: 'demo.apiserver-admin' } });
  expect(adminAccess?.kubeconfig).toBeUndefined();
  return true;
}

/** What is left of control planes on either cluster. */
async function remains({ cluster, target }: Landscape): Promise<string[]> {
  const named = async (objects: AsyncIterable<{ metadata: { name?: string } }>): Promise<string[]> =>
    (await Array.fromAsync(objects)).map(({ metadata }) => metadata.name!);
  return [
    ...(await named(cluster.client.list(Secret, { namespace: key.namespace }))).filter((name) =>
      name.startsWith(key.name),
    ),
    ...(await named(target.list(OpenIDConnect))),
    ...(await named(target.list(ClusterRole, { labelSelector: roleLabel }))),
  ];
}

const leftToChance = skipped(
  onReference,
  'on the real API server: an older operator that works on while the newer one makes a control plane. Who writes a status last is left to chance in real time, and nobody looks at its own status again',
);

const histories: readonly (readonly [making: Parting, deleting: Parting])[] = [
  ['is killed', 'works on beside the newer one'],
  ...(leftToChance ? [] : ([['works on beside the newer one', 'is killed']] as const)),
];

const seeds = stormSeeds({ quick: 1, full: 10, reference: 1 });

describe.each(histories)(
  'a control plane whose older operator %s in the middle of making it, and %s in the middle of deleting it',
  (making, deleting) => {
    test.each(seeds)('is ready, and goes: %s', { timeout: 300_000 }, async (seed) => {
      const random = new SeededRandom(seed);
      await using landscape = await Landscape.open();
      const { cluster } = landscape;
      const { client } = cluster;

      const maker = await replaceAmid(landscape, () => client.create(mcp()), 1 + random.below(35), making);
      await landscape.ready();
      await cluster.eventually(
        'all of it is as the newer operator makes it',
        async () => await isAsTheNewerMakesIt(landscape),
        { withinMs: 120_000 },
      );
      await stopped(landscape, maker);

      await replaceAmid(landscape, () => client.delete(ManagedControlPlane, key), 1 + random.below(20), deleting);
      await landscape.gone();
      expect(await remains(landscape)).toEqual([]);
    });
  },
);
