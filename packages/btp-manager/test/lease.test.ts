import { kubeMicroTime, Lease, newObject } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { btpCluster, btpController, btpOperator, read, reaches, requiredSecret, seededCertificates } from './kit.ts';

const key = { namespace: 'kyma-system', name: 'ec023d38.kyma-project.io' };
const election = { leaderElection: { name: 'slipway', namespace: 'default' } } as const;

describe('the lease of the original', () => {
  test('while the original holds it nothing is done; when it is given up the manager takes it and acts', async () => {
    await using cluster = await btpCluster([requiredSecret(), ...seededCertificates()]);
    const { client, clock } = cluster;
    const now = kubeMicroTime(clock.now());
    await client.create(
      newObject(Lease, {
        metadata: key,
        spec: {
          holderIdentity: 'the-original',
          leaseDurationSeconds: 3600,
          acquireTime: now,
          renewTime: now,
          leaseTransitions: 1,
        },
      }),
    );
    await client.create(btpOperator());
    const { manager } = await cluster.run([btpController()], election);
    await manager.elected;
    await cluster.advance(5000);
    expect((await read(cluster))?.status).toBeUndefined();
    expect(
      cluster.writes.filter((write) => !write.endsWith('leases slipway') && !write.endsWith('create leases')),
    ).toEqual([]);
    await client.patch(Lease, key, { type: 'merge', body: { spec: { holderIdentity: '' } } });
    await reaches(cluster, 'ReconcileSucceeded');
    expect((await client.get(Lease, key))?.spec?.holderIdentity).toBeTruthy();
    await manager.stop();
    // Given up, so that the original need not wait either.
    expect((await client.get(Lease, key))?.spec?.holderIdentity ?? '').toBe('');
  });
});
