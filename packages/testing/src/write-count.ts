import type { Transport, TransportRequest } from '@slipway/kube';

import { isLease, isWrite } from './requests.ts';
import type { TestCluster } from './test-cluster.ts';

/** How often an operator may write one object while nothing changes. */
export interface WriteBound {
  /** Writes the server accepted. Default 3: an operator at rest writes nothing, a late status or two is no loop. */
  readonly accepted?: number;
  /** Writes it sent, refused ones included. Default 20: what is denied is tried again, ever more slowly. */
  readonly sent?: number;
}

/**
 * What was on its way may arrive; then writes are counted, longer than any sensible retry takes, so that a slow loop shows too.
 * Real time is too dear for more than a fast one.
 */
const times = {
  embedded: { arriveMs: 60_000, quietMs: 600_000 },
  reference: { arriveMs: 1_000, quietMs: 4_000 },
};

/** Counts what an operator writes, object by object. A loop that feeds itself shows as a large number. */
export class WriteCount {
  readonly #counts = new Map<string, { sent: number; accepted: number }>();

  /** From now on. */
  reset(): void {
    this.#counts.clear();
  }

  counting(inner: Transport): Transport {
    return {
      send: async (request, signal) => {
        if (!isWrite(request) || isLease(request)) return await inner.send(request, signal);
        const count = this.#of(request);
        count.sent += 1;
        // An operator and a server in one process could feed each other for ever without a turn of the event loop.
        await new Promise<void>((resolve) => void setImmediate(resolve));
        const response = await inner.send(request, signal);
        if (response.status < 400) count.accepted += 1;
        return response;
      },
      open: (request, handler) => inner.open(request, handler),
      close: () => inner.close(),
    };
  }

  /** Lets time pass in which nothing changes, and throws when an object is written more often than `bound`. */
  async quiet(cluster: TestCluster, when: string, bound?: WriteBound): Promise<void> {
    // A loop that feeds itself may not let time pass at all: whatever is written that often is enough to know.
    const pass = async (ms: number, enough: WriteBound | undefined) => {
      const end = cluster.clock.now() + ms;
      cluster.clock.schedule(ms, () => undefined);
      await cluster.eventually(when, () => cluster.clock.now() >= end || this.excess(enough) !== undefined);
      return this.excess(enough);
    };
    const { arriveMs, quietMs } = times[cluster.type];
    this.reset();
    const loop = await pass(arriveMs, { accepted: 100, sent: 300 });
    if (!loop) this.reset();
    const excess = loop ?? (await pass(quietMs, bound));
    if (excess) throw new Error(`${excess} in ${quietMs / 1000} quiet seconds ${when}`);
  }

  /** How many writes the server accepted since the last `reset`. */
  total(): number {
    return [...this.#counts.values()].reduce((sum, { accepted }) => sum + accepted, 0);
  }

  /** An object that was written more often than `bound` since the last `reset`, in words. */
  excess({ accepted = 3, sent = 20 }: WriteBound = {}): string | undefined {
    for (const [object, count] of this.#counts) {
      if (count.accepted > accepted || count.sent > sent)
        return `${object} was written ${count.accepted} times (${count.sent} tries, at most ${accepted} and ${sent} are fine)`;
    }
    return undefined;
  }

  #of({ method, path }: TransportRequest): { sent: number; accepted: number } {
    const object = `${method} ${path.replace(/\?.*/, '')}`;
    const count = this.#counts.get(object) ?? { sent: 0, accepted: 0 };
    this.#counts.set(object, count);
    return count;
  }
}
