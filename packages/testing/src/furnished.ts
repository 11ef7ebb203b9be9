import { ConfigMap, ServiceAccount } from '@slipway/kube';

import type { TestCluster } from './test-cluster.ts';

/** Waits until the controllers have put into a namespace what every one gets: a test that compares before and after must not see it come. */
export async function furnished(
  { client, eventually }: Pick<TestCluster, 'client' | 'eventually'>,
  namespace: string,
): Promise<void> {
  await eventually(`the namespace ${namespace} has what every one gets`, async () => {
    const account = await client.get(ServiceAccount, { namespace, name: 'default' });
    return account && (await client.get(ConfigMap, { namespace, name: 'kube-root-ca.crt' }));
  });
}
