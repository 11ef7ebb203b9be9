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
export async function establish(place: Place, definition: KubeObject): Promise<void> {
  await place.client.apply(definition);
  await established(place, definition.metadata.name!);
}

/** Waits until the server takes objects of the kind that a definition of this name defines. */
export async function established({ client, eventually }: Place, name: string): Promise<void> {
  await eventually(`${name} is established`, async () =>
    isConditionTrue(await client.get(CustomResourceDefinition, { name }), 'Established'),
  );
}
