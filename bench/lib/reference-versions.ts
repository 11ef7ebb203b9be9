import type { ReferenceCluster } from '@slipway/reference-cluster';

import { AdminClient } from '../../tools/reference-cluster/admin-client.ts';

/** What the processes of the reference cluster say they are. */
export async function referenceVersions(cluster: ReferenceCluster): Promise<{ Kubernetes: string; etcd: string }> {
  using admin = new AdminClient(cluster);
  const { gitVersion } = await admin.call<{ gitVersion: string }>('GET', '/version');
  const { etcdserver } = (await (await fetch(`${cluster.etcdUrl}/version`)).json()) as { etcdserver: string };
  return { Kubernetes: gitVersion, etcd: etcdserver };
}
