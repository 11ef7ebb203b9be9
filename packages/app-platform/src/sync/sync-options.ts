import type { KubeObject } from '@slipway/kube';

import { argo } from '../argo/words.ts';

/** Options such as `Prune=false`, later ones over earlier ones. */
export type SyncOptions = ReadonlyMap<string, string>;

export function readSyncOptions(texts: readonly string[] = []): SyncOptions {
  const pairs = texts.map((text): [string, string] => {
    const [name = '', value = 'true'] = text.trim().split('=', 2);
    return [name, value];
  });
  return new Map(pairs);
}

/** The options of one object: its own annotation over those of the Application. */
export function optionsOf(object: KubeObject, general: SyncOptions): SyncOptions {
  const own = object.metadata.annotations?.[argo.syncOptions];
  return own === undefined ? general : new Map([...general, ...readSyncOptions(own.split(','))]);
}
