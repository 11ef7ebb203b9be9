import type { Client } from '@slipway/kube';
import { isNotFound, isUnknownKind } from '@slipway/kube';

import type { CapabilitiesOptions } from '../render/capabilities.ts';
import type { Lookup } from '../render/lookup.ts';

/** What the cluster can do, for `.Capabilities`. */
export async function capabilitiesOf(client: Client): Promise<CapabilitiesOptions> {
  const [version, resources] = await Promise.all([client.serverVersion(), client.discover()]);
  const apiVersions = new Set<string>();
  for (const { group, version: served, kind } of resources) {
    const groupVersion = group ? `${group}/${served}` : served;
    apiVersions.add(groupVersion).add(`${groupVersion}/${kind}`);
  }
  return { kubeVersion: version.gitVersion, apiVersions: [...apiVersions].sort() };
}

/** Answers `lookup` from the cluster; what is not there is nothing, as in Helm. */
export function lookupIn(client: Client): Lookup {
  return async ({ apiVersion, kind: kindName, namespace, name }) => {
    try {
      const kind = await client.resolve(apiVersion, kindName);
      const within = kind.scope === 'Namespaced' && namespace ? { namespace } : {};
      // An object of a namespace has no address without one.
      if (name && kind.scope === 'Namespaced' && !namespace) return undefined;
      if (name) return await client.get(kind, { ...within, name });
      const page = await client.listPage(kind, { ...within, limit: 0 });
      return { apiVersion, kind: `${kindName}List`, items: page.items };
    } catch (error) {
      if (isNotFound(error) || isUnknownKind(error)) return undefined;
      throw error;
    }
  };
}
