import { isNotFound, isUnknownKind, type Kind, type ObjectKey, seconds } from '@slipway/kube';
import { type EventSource, timerSource } from '@slipway/runtime';

import { ownerOf } from './back-references.ts';
import type { CoreCluster } from './core-cluster.ts';

const defaultEveryMs = seconds(30);

/**
 * Wakes a component when something changes about an object it handed over to somebody else: it was ready once, and broke or went since. One list for
 * all control planes, which works on any cluster, and where the kind is unknown as long as nobody uses it.
 */
export function handedOver(kind: Kind, core: CoreCluster, everyMs = defaultEveryMs): EventSource {
  let seen = new Map<string, { readonly version: string; readonly owner: ObjectKey }>();
  return timerSource({
    name: `handed over: ${kind.plural}.${kind.group}`,
    everyMs,
    keys: async ({ cluster }) => {
      const now: typeof seen = new Map();
      try {
        for await (const { metadata } of (await core(cluster)).list(kind)) {
          const owner = ownerOf(metadata.labels ?? {});
          if (owner) now.set(metadata.uid!, { version: metadata.resourceVersion!, owner });
        }
      } catch (error) {
        if (isUnknownKind(error) || isNotFound(error)) return [];
        throw error;
      }
      const before = seen;
      seen = now;
      const changed = [...now].filter(([uid, { version }]) => before.get(uid)?.version !== version);
      const gone = [...before].filter(([uid]) => !now.has(uid));
      return [...changed, ...gone].map(([, { owner }]) => owner);
    },
  });
}
