import type { Stream, Transport, TransportRequest } from '@slipway/kube';

/** Watches that bring nothing, not even their first list, until they are released: as on a server that still loads a kind. */
export class HeldWatches {
  readonly #isHeld: (request: TransportRequest) => boolean;
  readonly #released = Promise.withResolvers<void>();
  /** How many there are. */
  count = 0;

  /** @param isHeld which ones. Default: all. */
  constructor(isHeld: (request: TransportRequest) => boolean = () => true) {
    this.#isHeld = isHeld;
  }

  release(): void {
    this.#released.resolve();
  }

  through(inner: Transport): Transport {
    return {
      send: (request, signal) => inner.send(request, signal),
      close: () => inner.close(),
      open: (request, handler): Stream => {
        if (!this.#isHeld(request)) return inner.open(request, handler);
        this.count += 1;
        let stream: Stream | undefined;
        let isAborted = false;
        void this.#released.promise.then(() => {
          if (!isAborted) stream = inner.open(request, handler);
        });
        return {
          abort() {
            isAborted = true;
            stream?.abort();
          },
        };
      },
    };
  }
}
