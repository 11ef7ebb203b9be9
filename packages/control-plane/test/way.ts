import { type Clock, KubeError, sleep, type Stream, type Transport } from '@slipway/kube';

/** The way to a control plane, for watches: when it closes they break off, and none gets through until it opens again. */
export class Way {
  readonly #breaks = new Set<() => void>();
  #isOpen = true;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  set isOpen(isOpen: boolean) {
    this.#isOpen = isOpen;
    if (isOpen) return;
    for (const end of this.#breaks) end();
  }

  through(inner: Transport): Transport {
    return {
      send: async (request, signal) => {
        if (!this.#isOpen) throw refused();
        return await inner.send(request, signal);
      },
      open: (request, handler): Stream => {
        if (!this.#isOpen) {
          queueMicrotask(() => handler.error(refused()));
          return { abort: () => undefined };
        }
        const end = (): void => {
          this.#breaks.delete(end);
          stream.abort();
          handler.error(refused());
        };
        const over = (tell: () => void) => (): void => {
          this.#breaks.delete(end);
          tell();
        };
        const stream = inner.open(request, {
          head: (status, headers) => handler.head(status, headers),
          data: (chunk) => handler.data(chunk),
          end: over(() => handler.end()),
          error: (error) => over(() => handler.error(error))(),
        });
        this.#breaks.add(end);
        return { abort: over(() => stream.abort()) };
      },
      close: () => inner.close(),
    };
  }
}

/** What a closed door says. */
export function refused(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
}

/** A way on which packets may get lost: nothing breaks off, and nothing is answered. Requests are given up after a second. */
export class LossyWay {
  readonly #clock: Clock;
  isLosing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  through(inner: Transport): Transport {
    return {
      send: async (request, signal) => {
        if (!this.isLosing) return await inner.send(request, signal);
        await sleep(this.#clock, 1_000, signal);
        throw new KubeError('no answer in time', { reason: 'RequestTimeout' });
      },
      open: (request, handler) =>
        inner.open(request, {
          head: (status, headers) => this.isLosing || handler.head(status, headers),
          data: (chunk) => this.isLosing || handler.data(chunk),
          end: () => handler.end(),
          error: (error) => handler.error(error),
        }),
      close: () => inner.close(),
    };
  }
}

/** A way on which an API server may stop to know who comes: requests are refused, watches that are open go on. */
export class Door {
  /** Kubeconfigs somebody came with. */
  readonly known = new Set<string>();
  readonly #refused = new Set<string>();

  /** Nobody who was here is known any more. */
  forgetAll(): void {
    for (const each of this.known) this.#refused.add(each);
  }

  through(inner: Transport, kubeconfig: string): Transport {
    this.known.add(kubeconfig);
    return {
      send: async (request, signal) =>
        this.#refused.has(kubeconfig) ? unauthorized : await inner.send(request, signal),
      open: (request, handler) => inner.open(request, handler),
      close: () => inner.close(),
    };
  }
}

const unauthorized = {
  status: 401,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(
    JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Unauthorized', code: 401 }),
  ),
};
