import { CustomResourceDefinition, isConditionTrue, toCustomResourceDefinition, type DefinedKind } from '@slipway/kube';

import type { TestCluster } from './test-cluster.ts';

/** Installs custom kinds, and waits until the server takes objects of them. */
export async function installKinds(
  { client, eventually }: Pick<TestCluster, 'client' | 'eventually'>,
  kinds: readonly DefinedKind[],
): Promise<void> {
  for (const kind of kinds) {
    const crd = toCustomResourceDefinition(kind);
    await client.apply(crd);
    await eventually(`${crd.metadata.name} is established`, async () =>
      isConditionTrue(await client.get(CustomResourceDefinition, { name: crd.metadata.name! }), 'Established'),
    );
  }
}
