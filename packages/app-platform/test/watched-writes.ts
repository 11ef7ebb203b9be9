import { ConfigMap, newObject, Secret, type KubeObject } from '@slipway/kube';
import type { TestCluster } from '@slipway/testing';

import type { StoredWrite } from './state-machines.ts';

/** Where the watches are told that they have seen enough. */
const lastOne = { namespace: 'default', name: 'seen-everything' };

/**
 * Tells every write to a ConfigMap or Secret from now on, as the watches of the cluster do: kind by kind in the order in which the server
 * stored them, and none left out.
 */
export async function watchWrites(
  cluster: TestCluster,
  tell: (write: StoredWrite) => void,
): Promise<{ finish(): Promise<void> }> {
  const watches = await Promise.all([ConfigMap, Secret].map((kind) => watchKind(cluster, kind, tell)));
  return {
    /** Resolves when everything that was written before has been told, and tells nothing more. */
    async finish() {
      await Promise.all(watches.map((watch) => watch.finish()));
    },
  };
}

async function watchKind(
  cluster: TestCluster,
  kind: typeof ConfigMap | typeof Secret,
  tell: (write: StoredWrite) => void,
): Promise<{ finish(): Promise<void> }> {
  const { client } = cluster;
  const id = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;
  const { items, resourceVersion } = await client.listPage(kind);
  const stored = new Map<string, KubeObject>(items.map((object) => [id(object), object]));
  let isComplete = false;
  let failure: unknown;
  const follow = async (): Promise<void> => {
    for await (const { type, object } of client.watch(kind, { resourceVersion })) {
      if (type === 'BOOKMARK') continue;
      isComplete = id(object) === `${lastOne.namespace}/${lastOne.name}`;
      if (isComplete) return;
      tell({ type, object, previous: stored.get(id(object)) });
      if (type === 'DELETED') stored.delete(id(object));
      else stored.set(id(object), object);
    }
    throw new Error(`the watch of ${kind.kind}s ended before its time`);
  };
  void follow().catch((error: unknown) => (failure = error));
  return {
    async finish() {
      await client.create(newObject(kind, { metadata: { ...lastOne } }));
      await cluster.eventually(`the watch of ${kind.kind}s has told everything`, () => {
        if (failure !== undefined) throw failure;
        return isComplete;
      });
      await client.delete(kind, lastOne);
    },
  };
}
