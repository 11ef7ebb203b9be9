import type { Transport, TransportRequest } from '@slipway/kube';

/** Counts what goes to a cluster, but for what others do there. */
export class RequestLog {
  readonly writes: string[] = [];
  readonly reads: string[] = [];

  through(inner: Transport): Transport {
    return {
      send: (request, signal) => {
        this.#note(request);
        return inner.send(request, signal);
      },
      open: (request, handler) => inner.open(request, handler),
      close: () => inner.close(),
    };
  }

  #note({ method, path }: TransportRequest): void {
    (method === 'GET' ? this.reads : this.writes).push(`${method} ${path.split('?')[0]}`);
  }

  clear(): void {
    this.writes.length = this.reads.length = 0;
  }
}
