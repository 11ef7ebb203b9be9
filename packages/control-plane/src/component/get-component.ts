import type { Client, ObjectKey, ObjectOf } from '@slipway/kube';

import { componentKinds, type ComponentType } from './component-type.ts';

/** The resource of a component, which has the name and namespace of its siblings; undefined when there is none. */
export async function getComponent<T extends ComponentType>(
  client: Pick<Client, 'get'>,
  type: T,
  key: ObjectKey,
): Promise<ObjectOf<(typeof componentKinds)[T]> | undefined> {
  return (await client.get(componentKinds[type], key)) as ObjectOf<(typeof componentKinds)[T]> | undefined;
}
