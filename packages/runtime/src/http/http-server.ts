import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Logger } from '../log/logger.ts';

export interface ServerAddress {
  /** 0 takes any free port. */
  port: number;
  /** Default: all addresses of the machine. */
  host?: string;
}

export interface PlainAnswer {
  status: number;
  contentType?: string;
  headers?: Readonly<Record<string, string>>;
  body: string;
}

export interface PlainRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** A small HTTP server for probes and metrics: answers GET requests by path. */
export interface RunningServer {
  readonly port: number;
  close(): Promise<void>;
}

export async function serveHttp(
  address: ServerAddress,
  answer: (request: PlainRequest) => Promise<PlainAnswer>,
  log: Logger,
): Promise<RunningServer> {
  const listener = answering(async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return { status: 405, headers: { allow: 'GET, HEAD' }, body: '' };
    }
    return answer({ path: pathOf(request.url), headers: request.headers });
  }, log);
  const server = createServer(listener);
  const port = await listen(server, address, log);
  return { port, close: () => closeServer(server) };
}

/** Listens to requests so that each is answered: whatever `answer` throws is a 500 and a line in the log, never the end of the process. */
export function answering(
  answer: (...[request]: Parameters<RequestListener>) => Promise<PlainAnswer>,
  log: Logger,
): RequestListener {
  return (request, response) => {
    const respond = async (): Promise<void> => {
      try {
        const { status, contentType = 'text/plain; charset=utf-8', headers, body } = await answer(request, response);
        response.writeHead(status, { 'content-type': contentType, 'x-content-type-options': 'nosniff', ...headers });
        response.end(body);
      } catch (error) {
        log.error('a request could not be answered', { method: request.method, path: pathOf(request.url), error });
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end();
      }
    };
    // A peer that hangs up in the middle is its own affair.
    response.on('error', () => undefined);
    void respond();
  };
}

/** The path of a request target without its query. `new URL` would throw at targets such as `//`. */
export function pathOf(target: string | undefined): string {
  return (target ?? '/').split(/[?#]/, 1)[0] || '/';
}

/** Starts listening; a taken port is an error that says so. Later troubles of the listening socket go to the log. */
export function listen(
  server: Pick<Server, 'listen' | 'on' | 'once' | 'off' | 'address'>,
  address: ServerAddress,
  log: Logger,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const where = `${address.host ?? '*'}:${address.port}`;
    const onError = (error: Error) => {
      reject(new Error(`cannot listen on ${where}: ${error.message}`, { cause: error }));
    };
    server.once('error', onError);
    server.listen(address.port, address.host, () => {
      server.off('error', onError);
      server.on('error', (error) => log.error('a server has trouble with its socket', { address: where, error }));
      resolve((server.address() as AddressInfo).port);
    });
  });
}

export function closeServer(server: Pick<Server, 'close' | 'closeAllConnections'>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
