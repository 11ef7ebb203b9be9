import {
  CustomResourceDefinition,
  isConditionTrue,
  toCustomResourceDefinition,
  type DefinedKind,
  type KubeObject,
} from '@slipway/kube';

import type { TestCluster } from './test-cluster.ts';

type Place = Pick<TestCluster, 'client' | 'eventually'>;

/** Installs custom kinds, and waits until the server takes objects of them. */
export async function installKinds(place: Place, kinds: readonly DefinedKind[]): Promise<void> {
  for (const kind of kinds) await establish(place, toCustomResourceDefinition(kind));
}

/** Applies a definition, which may be there from an earlier test, and waits until the server takes objects of its kind. */
export async function establish({ client, eventually }: Place, definition: KubeObject): Promise<void> {
  const name = definition.metadata.name!;
  await client.apply(definition);
  await eventually(`${name} is established`, async () =>
    isConditionTrue(await client.get(CustomResourceDefinition, { name }), 'Established'),
  );
}
