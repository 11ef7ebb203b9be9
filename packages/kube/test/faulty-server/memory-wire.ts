import type { StreamHandler, Stream, Transport, TransportRequest, TransportResponse } from '../../src/transport.ts';
import type { FaultyServer } from './faulty-server.ts';

/** A transport that ends in a server in the same process: no sockets, no time of its own. */
export class MemoryTransport implements Transport {
  readonly #server: FaultyServer;
  /** What streams that are over still say, as transports get wrong: this line, then an error, then an end. */
  lateLine: string | undefined;
  readonly #late: (() => void)[] = [];

  constructor(server: FaultyServer) {
    this.#server = server;
  }

  /** Delivers what streams say after they were over. */
  deliverLate(): number {
    const late = this.#late.splice(0);
    for (const call of late) call();
    return late.length;
  }

  open(request: TransportRequest, handler: StreamHandler): Stream {
    let open = true;
    let hangUp: (() => void) | undefined;
    const pass = (call: () => void) => {
      if (open) call();
    };
    const close = () => {
      open = false;
      const { lateLine } = this;
      if (lateLine === undefined) return;
      this.#late.push(
        () => handler.data(Buffer.from(`${lateLine}\n`)),
        () => handler.error(new Error('aborted')),
        () => handler.end(),
      );
    };
    queueMicrotask(() => {
      if (!open) return;
      hangUp = this.#server.handle(request.path, request.headers?.['accept'] ?? '', {
        head: (status, headers) => pass(() => handler.head(status, headers)),
        data: (chunk) => pass(() => handler.data(chunk)),
        end: () =>
          pass(() => {
            close();
            handler.end();
          }),
        reset: () =>
          pass(() => {
            close();
            handler.error(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
          }),
      });
      if (!open) hangUp();
    });
    return {
      abort: () => {
        if (!open) return;
        close();
        hangUp?.();
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
