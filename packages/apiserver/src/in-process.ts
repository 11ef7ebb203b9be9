import { adminUser, type UserInfo } from './auth/auth.ts';
import { ConnectionLost } from './faults.ts';
import type { ApiResponse, ApiServer } from './server.ts';

/** The client's view of a connection; the shape every Slipway client expects of a transport. */
export interface InProcessTransport {
  send(request: InProcessRequest, signal?: AbortSignal): Promise<InProcessResponse>;
  open(request: InProcessRequest, handler: InProcessStreamHandler): { abort(): void };
  close(): Promise<void>;
}

export interface InProcessRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface InProcessResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

export interface InProcessStreamHandler {
  head(status: number, headers: Readonly<Record<string, string | string[]>>): void;
  data(chunk: Buffer): void;
  end(): void;
  error(error: Error): void;
}

export interface InProcessOptions {
  /** Who all requests come from, before impersonation. Default: the administrator. */
  readonly user?: UserInfo;
}

/** A transport without sockets: requests go straight into `ApiServer.handle`. */
export function inProcessTransport(server: ApiServer, options: InProcessOptions = {}): InProcessTransport {
  const user = options.user ?? adminUser;
  const pending = new Set<(error: Error) => void>();
  let closed = false;

  function handle(request: InProcessRequest): Promise<ApiResponse> {
    if (closed) return Promise.reject(new ConnectionLost('transport is closed'));
    const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body;
    return server.handle({ method: request.method, path: request.path, headers: request.headers ?? {}, body, user });
  }

  return {
    send(request, signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      return new Promise((resolve, reject) => {
        const onAbort = () => fail(signal!.reason as Error);
        const settle = () => {
          pending.delete(fail);
          signal?.removeEventListener('abort', onAbort);
        };
        const fail = (error: Error) => {
          settle();
          reject(error);
        };
        pending.add(fail);
        signal?.addEventListener('abort', onAbort, { once: true });
        handle(request).then((response) => {
          if (!response.stream) {
            settle();
            resolve({ status: response.status, headers: response.headers, body: bufferOf(response.body) });
            return;
          }
          const chunks: Uint8Array[] = [];
          response.stream({
            write: (chunk) => chunks.push(chunk) > 0,
            fail,
            end() {
              settle();
              resolve({ status: response.status, headers: response.headers, body: Buffer.concat(chunks) });
            },
          });
        }, fail);
      });
    },

    open(request, handler) {
      let over = false;
      let stream: { close(): void } | undefined;
      const fail = (error: Error) => {
        if (over) return;
        over = true;
        pending.delete(fail);
        stream?.close();
        handler.error(error);
      };
      pending.add(fail);
      handle(request).then((response) => {
        if (over) {
          response.stream?.({ write: () => true, end() {} }).close();
          return;
        }
        handler.head(response.status, response.headers);
        if (!response.stream) {
          if (!over && response.body?.length) handler.data(bufferOf(response.body));
          if (over) return;
          over = true;
          pending.delete(fail);
          handler.end();
          return;
        }
        const started = response.stream({
          write(chunk) {
            if (!over) handler.data(bufferOf(chunk));
            return true;
          },
          fail,
          end() {
            if (over) return;
            over = true;
            pending.delete(fail);
            handler.end();
          },
        });
        if (over) started.close();
        else stream = started;
      }, fail);
      return {
        abort() {
          over = true;
          pending.delete(fail);
          stream?.close();
        },
      };
    },

    async close() {
      closed = true;
      const error = new ConnectionLost('transport is closed');
      for (const fail of pending) fail(error);
    },
  };
}

function bufferOf(bytes: Uint8Array | undefined): Buffer {
  if (!bytes) return Buffer.alloc(0);
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
