import {
  type Client,
  collectionPath,
  isForbidden,
  isNotFound,
  type KubeObject,
  objectPath,
  Pod,
  type RawRequest,
  withQuery,
} from '@slipway/kube';

import { readObjects, type ReleaseObject } from './objects.ts';
import type { Release } from './release.ts';

/** A table of the API server: what kubectl prints of objects. */
export interface ServerTable {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object?: KubeObject }[];
}

const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** The objects of a release as they are now, and lists of the pods they select, by Helm's words for their kinds: `v1/ConfigMap`, `v1/Pod(related)`. */
export async function liveObjects(client: Client, release: Release): Promise<Map<string, readonly KubeObject[]>> {
  return await gather(client, release, async (request) => {
    const found = (await client.request(request)) as KubeObject & { readonly items?: readonly KubeObject[] };
    if (found.items === undefined) return [found];
    // In a list the server does not say again what they are.
    const items = found.items.map((item) => ({ ...item, apiVersion: Pod.apiVersion, kind: Pod.kind }));
    return items.length === 0 ? [] : [{ ...found, items }];
  });
}

/** The same as tables. */
export async function liveTables(client: Client, release: Release): Promise<Map<string, readonly ServerTable[]>> {
  return await gather(client, release, async (request) => {
    const found = await client.request({ ...request, accept: asTable });
    return (found as ServerTable).rows.length === 0 ? [] : [found as ServerTable];
  });
}

async function gather<T>(
  client: Client,
  release: Release,
  read: (request: RawRequest) => Promise<readonly T[]>,
): Promise<Map<string, readonly T[]>> {
  const found = new Map<string, readonly T[]>();
  const add = async (group: string, request: RawRequest): Promise<void> => {
    try {
      const more = await read(request);
      if (more.length > 0) found.set(group, [...(found.get(group) ?? []), ...more]);
    } catch (error) {
      // What is gone, or not this user's to see, is no part of what there is to show.
      if (!isNotFound(error) && !isForbidden(error)) throw error;
    }
  };
  const seen = new Set<string>();
  for (const each of await readObjects(client, release.manifest, release.namespace)) {
    const { kind, object } = each;
    const { name, namespace } = object.metadata;
    await add(`${kind.version}/${kind.kind}`, { method: 'GET', path: objectPath(kind, { name: name!, namespace }) });
    const labels = selectedLabels(each);
    if (labels === undefined || seen.has(`${namespace} ${labels}`)) continue;
    seen.add(`${namespace} ${labels}`);
    const path = withQuery(collectionPath(Pod, namespace ?? release.namespace), { labelSelector: labels });
    await add('v1/Pod(related)', { method: 'GET', path });
  }
  return found;
}

const selecting = new Set(['ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job']);

/** The labels of the pods an object keeps, as a selector. */
function selectedLabels({ object }: ReleaseObject): string | undefined {
  const { selector } = (object['spec'] ?? {}) as { selector?: Record<string, unknown> };
  const labels =
    object.kind === 'ReplicationController'
      ? selector
      : selecting.has(object.kind)
        ? (selector?.['matchLabels'] as Record<string, unknown> | undefined)
        : undefined;
  if (labels === undefined || labels === null) return undefined;
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${String(value)}`)
    .sort()
    .join(',');
}
