import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminClient } from './admin-client.ts';

export interface FollowOptions<T = unknown> {
  admin: AdminClient;
  signal: AbortSignal;
  /** Receives a line when the list or the watch fails. Default: nowhere. */
  log?: (line: string) => void;
  /** Receives what a watch saw deleted. What goes while there is no watch is not told. Default: nowhere. */
  onDeleted?: (object: T) => void;
}

const retryMs = 200;

/** Hands every object of a collection to `onObject`, now and after every change, until `signal` aborts. */
export async function follow<T>(
  collection: string,
  onObject: (object: T) => void,
  options: FollowOptions<T>,
): Promise<void> {
  const { admin, signal, log, onDeleted } = options;
  while (!signal.aborted) {
    try {
      const list = await admin.call<{ metadata: { resourceVersion: string }; items: T[] }>('GET', collection, {
        signal,
      });
      for (const item of list.items) onObject(item);
      const watch = `${collection}?watch=true&resourceVersion=${list.metadata.resourceVersion}`;
      for await (const { type, object } of admin.watch<T>(watch, signal)) {
        if (type === 'ERROR') break;
        if (type === 'ADDED' || type === 'MODIFIED') onObject(object);
        if (type === 'DELETED') onDeleted?.(object);
      }
    } catch (error) {
      if (signal.aborted) return;
      log?.(`following ${collection}: ${String(error)}`);
      await sleep(retryMs, undefined, { signal }).catch(() => {});
    }
  }
}
