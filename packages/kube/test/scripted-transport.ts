import type { Stream, StreamHandler, Transport, TransportRequest } from '../src/transport.ts';

export interface ScriptedAnswer {
  status?: number;
  headers?: Record<string, string | string[]>;
  /** An object is sent as JSON. */
  body?: unknown;
}

export interface ScriptedTransport extends Transport {
  readonly requests: TransportRequest[];
  /** `METHOD path` of every request so far. */
  readonly lines: string[];
}

/** A transport whose answers a test writes: one function from request to answer, or to what is thrown. */
export function scriptedTransport(
  script: (request: TransportRequest, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>,
  stream: (request: TransportRequest, handler: StreamHandler) => void = () => {},
): ScriptedTransport {
  const requests: TransportRequest[] = [];
  return {
    requests,
    get lines() {
      return requests.map((request) => `${request.method} ${request.path}`);
    },
    async send(request, signal) {
      signal?.throwIfAborted();
      requests.push(request);
      const { status = 200, headers = {}, body = {} } = await script(request, requests.length - 1);
      return { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) };
    },
    open(request, handler): Stream {
      requests.push(request);
      let aborted = false;
      const guard =
        <A extends unknown[]>(call: (...values: A) => void) =>
        (...values: A) => {
          if (!aborted) call(...values);
        };
      queueMicrotask(() =>
        stream(request, {
          head: guard((status, headers) => handler.head(status, headers)),
          data: guard((chunk) => handler.data(chunk)),
          end: guard(() => handler.end()),
          error: guard((error) => handler.error(error)),
        }),
      );
      return { abort: () => void (aborted = true) };
    },
    close: () => Promise.resolve(),
  };
}

/** A `Status` as the server sends it. */
export function failure(code: number, reason: string, fields: Record<string, unknown> = {}): ScriptedAnswer {
  return {
    status: code,
    body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code, message: reason, ...fields },
  };
}
