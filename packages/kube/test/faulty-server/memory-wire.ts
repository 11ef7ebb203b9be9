import type { StreamHandler, Stream, Transport, TransportRequest, TransportResponse } from '../../src/transport.ts';
import type { FaultyServer } from './faulty-server.ts';

/** A transport that ends in a server in the same process: no sockets, no time of its own. */
export class MemoryTransport implements Transport {
  readonly #server: FaultyServer;
  /** Whether callbacks of an aborted stream still come through, as transports get wrong. */
  rude = false;
  readonly #late: (() => void)[] = [];

  constructor(server: FaultyServer) {
    this.#server = server;
  }

  /** Delivers what was sent to streams after they were aborted. */
  deliverLate(): number {
    const late = this.#late.splice(0);
    for (const call of late) call();
    return late.length;
  }

  open(request: TransportRequest, handler: StreamHandler): Stream {
    let open = true;
    let close: (() => void) | undefined;
    const pass = (call: () => void) => {
      if (open) call();
      else if (this.rude) this.#late.push(call);
    };
    queueMicrotask(() => {
      if (!open) return;
      close = this.#server.handle(request.path, request.headers?.['accept'] ?? '', {
        head: (status, headers) => pass(() => handler.head(status, headers)),
        data: (chunk) => pass(() => handler.data(chunk)),
        end: () =>
          pass(() => {
            open = false;
            handler.end();
          }),
        reset: () =>
          pass(() => {
            open = false;
            handler.error(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
          }),
      });
      if (!open) close();
    });
    return {
      abort: () => {
        if (!open) return;
        open = false;
        if (this.rude)
          this.#late.push(
            () => handler.error(new Error('aborted')),
            () => handler.end(),
          );
        close?.();
      },
    };
  }

  send(request: TransportRequest): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let head: Pick<TransportResponse, 'status' | 'headers'> = { status: 0, headers: {} };
      this.open(request, {
        head: (status, headers) => {
          head = { status, headers };
        },
        data: (chunk) => {
          chunks.push(Buffer.from(chunk));
        },
        end: () => resolve({ ...head, body: Buffer.concat(chunks) }),
        error: reject,
      });
    });
  }

  async close(): Promise<void> {}
}
