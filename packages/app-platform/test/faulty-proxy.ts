import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@slipway/kube';

/** How a Git server can be out of order. */
export type GitFault = 'down' | 'silent' | 'slow' | 'corrupt' | 401 | 403 | 500;

/** How long a slow server thinks before each answer: less than the operator waits. */
const slowMs = 700;

/** What stands between the operator and a Git server, and does its worst. */
export interface FaultyProxy extends AsyncDisposable {
  readonly url: string;
  fault: GitFault | undefined;
}

export async function faultyProxy(target: string): Promise<FaultyProxy> {
  const { hostname, port, pathname } = new URL(target);
  const state: { fault: GitFault | undefined } = { fault: undefined };
  const server = createServer((request, response) => {
    const { fault } = state;
    if (fault === 'down') request.socket.destroy();
    else if (typeof fault === 'number')
      response.writeHead(fault, { 'www-authenticate': 'Basic realm="x"' }).end('no\n');
    else if (fault === 'slow') systemClock.schedule(slowMs, () => pass({ hostname, port }, request, response, false));
    else if (fault !== 'silent') pass({ hostname, port }, request, response, fault === 'corrupt');
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    get fault() {
      return state.fault;
    },
    set fault(fault) {
      state.fault = fault;
      // What is kept open would still go through.
      server.closeAllConnections();
    },
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

function pass(
  target: { hostname: string; port: string },
  request: IncomingMessage,
  response: ServerResponse,
  corrupt: boolean,
): void {
  const { method, url, headers } = request;
  const passed = forward({ ...target, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    const isPack = url?.endsWith('/git-upload-pack') ?? false;
    answer.on('data', (chunk: Buffer) => response.write(corrupt && isPack ? damaged(chunk) : chunk));
    answer.on('end', () => response.end());
  });
  passed.on('error', () => response.destroy());
  request.pipe(passed);
}

/** The bytes of objects, not those of the protocol around them. */
function damaged(chunk: Buffer): Buffer {
  const start = chunk.indexOf('PACK');
  if (start < 0) return chunk;
  const copy = Buffer.from(chunk);
  for (let at = start + 16; at < copy.length - 8; at += 7) copy[at] = copy[at]! ^ 0xff;
  return copy;
}
