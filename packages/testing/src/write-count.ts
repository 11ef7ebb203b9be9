import type { Transport, TransportRequest } from '@slipway/kube';

import { isWrite } from './scenario.ts';

/** How often an operator may write one object while nothing changes. */
export interface WriteBound {
  /** Writes the server accepted. Default 3: an operator at rest writes nothing, a late status or two is no loop. */
  readonly accepted?: number;
  /** Writes it sent, refused ones included. Default 20: what is denied is tried again, ever more slowly. */
  readonly sent?: number;
}

/** Time in which writes are counted, in milliseconds: longer than any sensible retry, so that a slow loop shows too. */
export const quietMs = 600_000;

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
        const response = await inner.send(request, signal);
        if (response.status < 400) count.accepted += 1;
        return response;
      },
      open: (request, handler) => inner.open(request, handler),
      close: () => inner.close(),
    };
  }

  /** Throws when an object was written more often than `bound` since the last `reset`. */
  verify(when: string, { accepted = 3, sent = 20 }: WriteBound = {}): void {
    for (const [object, count] of this.#counts) {
      if (count.accepted > accepted || count.sent > sent)
        throw new Error(
          `${object} was written ${count.accepted} times (${count.sent} tries) ${when}; while nothing changes at most ${accepted} (${sent}) are fine`,
        );
    }
  }

  #of({ method, path }: TransportRequest): { sent: number; accepted: number } {
    const object = `${method} ${path.replace(/\?.*/, '')}`;
    const count = this.#counts.get(object) ?? { sent: 0, accepted: 0 };
    this.#counts.set(object, count);
    return count;
  }
}

export function isLease({ path }: TransportRequest): boolean {
  return path.startsWith('/apis/coordination.k8s.io/');
}
