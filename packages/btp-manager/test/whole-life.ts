import { NetworkPolicy, newObject, Pod, Secret } from '@slipway/kube';

import { BtpOperator, ServiceInstance } from '../src/api.ts';
import {
  btpOperator,
  encode,
  held,
  isGone,
  primary,
  reaches,
  seededCertificates,
  serviceBinding,
  serviceInstance,
  type BtpTestCluster,
} from './kit.ts';

const system = (name: string) => ({ namespace: 'kyma-system', name });

/** Three lives in which the manager does everything it can do. Needs the namespace `creds`, the required Secret and certificates. */
export async function wholeLife(cluster: BtpTestCluster): Promise<void> {
  await leaveSomethingBehind(cluster);
  const { client } = cluster;
  await client.create(btpOperator());
  await reaches(cluster, 'ReconcileSucceeded');

  // Another cluster id and another namespace for the credentials.
  const clusterId = { INITIAL_CLUSTER_ID: encode('cluster-1') };
  await client.create(newObject(Secret, { metadata: system('sap-btp-operator-clusterid'), data: clusterId }));
  await client.patch(Secret, system('sap-btp-manager'), {
    type: 'merge',
    body: { data: { cluster_id: encode('cluster-2'), credentials_namespace: encode('creds') } },
  });
  await cluster.eventually('the credentials have moved', async () => {
    const name = 'sap-btp-service-operator';
    const [there, here] = [
      await client.get(Secret, { namespace: 'creds', name }),
      await client.get(Secret, system(name)),
    ];
    return there !== undefined && here === undefined;
  });
  await reaches(cluster, 'ReconcileSucceeded');

  // Its deletion is blocked, then goes on, without network policies.
  await client.create(serviceInstance('one'));
  await client.delete(BtpOperator, primary);
  await reaches(cluster, 'ServiceInstancesAndBindingsNotCleaned');
  const annotations = { 'operator.kyma-project.io/btp-operator-disable-network-policies': 'true' };
  await client.patch(BtpOperator, primary, { type: 'merge', body: { metadata: { annotations } } });
  await client.delete(ServiceInstance, { namespace: 'default', name: 'one' });
  await isGone(cluster);

  // Two more lives, whose deletion is forced; what does not go in time is let go.
  await client.create(newObject(Secret, { metadata: { namespace: 'default', name: 'two' }, data: {} }));
  for (const kept of [serviceBinding('two', held), serviceInstance('three', held)]) {
    for (const secret of seededCertificates()) await client.create(secret);
    await client.create(btpOperator({ labels: { 'force-delete': 'true' } }));
    await reaches(cluster, 'ReconcileSucceeded');
    await client.create(kept);
    await client.delete(BtpOperator, primary);
    await isGone(cluster);
  }
}

/** What an earlier installation may have left: a network policy, a cluster id, a pod that refuses to start with it. */
async function leaveSomethingBehind({ client }: BtpTestCluster): Promise<void> {
  const legacy = system('kyma-project.io--btp-operator-allow-to-webhook');
  await client.create(newObject(NetworkPolicy, { metadata: legacy, spec: { podSelector: {} } }));
  await client.create(
    newObject(Secret, { metadata: system('sap-btp-operator-clusterid'), data: { INITIAL_CLUSTER_ID: encode('old') } }),
  );
  const labels = { 'app.kubernetes.io/instance': 'sap-btp-operator' };
  // Gated, so that nobody runs it and its condition stays as it is put.
  const spec = { schedulingGates: [{ name: 'test/gate' }], containers: [{ name: 'manager', image: 'x' }] };
  await client.create(newObject(Pod, { metadata: { ...system('refused'), labels }, spec }));
  const status = { conditions: [{ type: 'Ready', status: 'False' }] };
  await client.patch(Pod, system('refused'), { type: 'merge', body: { status } }, { subresource: 'status' });
}
