import type { Clock, Timer } from './clock.ts';
import type { Store } from './store/store.ts';

export interface EventExpiryOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** How long an Event stays after it was last written, in milliseconds. */
  readonly ttlMs: number;
}

const storageId = 'events';
const retryMs = 60_000;

/** Removes Events that nobody has written for a while. Those found at the start stay for the whole time once more. */
export function expireEvents({ store, clock, ttlMs }: EventExpiryOptions): { stop(): void } {
  /** When each event goes, soonest first: all stay equally long, so a write moves its event to the end. */
  const dueTimes = new Map<string, number>();
  let timer: Timer | undefined;

  function expect(key: string): void {
    dueTimes.delete(key);
    dueTimes.set(key, clock.now() + ttlMs);
    wake();
  }

  function wake(): void {
    const [soonest] = dueTimes.values();
    if (timer || soonest === undefined) return;
    timer = clock.schedule(soonest - clock.now(), () => {
      timer = undefined;
      try {
        removeDue();
      } finally {
        wake();
      }
    });
  }

  function removeDue(): void {
    const now = clock.now();
    for (const [key, due] of dueTimes) {
      if (due > now) return;
      // What cannot go now, because the disk is full, say, is tried again in a while.
      dueTimes.delete(key);
      dueTimes.set(key, now + retryMs);
      store.delete(storageId, key);
    }
  }

  for (const { key } of store.list(storageId)) expect(key);
  const unsubscribe = store.subscribe(storageId, ({ type, entry }) => {
    if (type === 'DELETED') dueTimes.delete(entry.key);
    else expect(entry.key);
  });
  return {
    stop() {
      unsubscribe();
      timer?.cancel();
    },
  };
}
