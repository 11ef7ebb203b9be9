import {
  type CacheEvent,
  type Clock,
  type Informer,
  keyText,
  kindText,
  type ObjectKey,
  TimeSlice,
  yieldToLoop,
} from '@slipway/kube';

import type { Logger } from '../log/logger.ts';
import type { Predicate } from './predicates.ts';

/** One cached kind as a source of work: which of its changes count, and whom they concern. */
export interface Subscription {
  readonly informer: Informer;
  readonly predicates: readonly Predicate[];
  readonly keysOf: (event: CacheEvent) => Iterable<ObjectKey> | Promise<Iterable<ObjectKey>>;
}

/** Calls `enqueue` for every key a change concerns. Returns the function that ends it. */
export function subscribe(
  { informer, predicates, keysOf }: Subscription,
  enqueue: (key: ObjectKey, event: CacheEvent) => void,
  log: Logger,
): () => void {
  return informer.onEvent((event) => {
    const failed = (error: unknown): void =>
      log.error('handling an event failed', { kind: kindText(informer.kind), key: keyText(event.key), error });
    const enqueueAll = (keys: Iterable<ObjectKey>): void => {
      for (const key of keys) enqueue(key, event);
    };
    try {
      for (const predicate of predicates) if (!predicate(event)) return;
      const keys = keysOf(event);
      if (keys instanceof Promise) keys.then(enqueueAll).catch(failed);
      else enqueueAll(keys);
    } catch (error) {
      failed(error);
    }
  });
}

/** Calls `enqueue` for every cached object, a slice at a time so that the event loop keeps turning. Ends early with `signal`. */
export async function enqueueAll(
  informer: Informer,
  enqueue: (key: ObjectKey) => void,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  const slice = new TimeSlice(clock);
  for (const key of informer.keys()) {
    if (slice.isOver) {
      await new Promise<void>(yieldToLoop);
      slice.renew();
    }
    if (signal.aborted) return;
    enqueue(key);
  }
}
