import type { Stream, Transport } from '@slipway/kube';

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

function refused(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
}
