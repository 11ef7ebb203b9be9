import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ServerAddress {
  /** 0 takes any free port. */
  port: number;
  /** Default: all addresses of the machine. */
  host?: string;
}

export interface PlainAnswer {
  status: number;
  contentType?: string;
  body: string;
}

/** A small HTTP server for probes and metrics: answers GET requests by path. */
export interface RunningServer {
  readonly port: number;
  close(): Promise<void>;
}

export async function serveHttp(
  address: ServerAddress,
  answer: (path: string) => Promise<PlainAnswer>,
): Promise<RunningServer> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    answer(path).then(
      ({ status, contentType = 'text/plain; charset=utf-8', body }) => {
        response.writeHead(status, { 'content-type': contentType, 'x-content-type-options': 'nosniff' }).end(body);
      },
      () => response.writeHead(500).end(),
    );
  });
  const port = await listen(server, address);
  return { port, close: () => closeServer(server) };
}

/** Starts listening; a taken port is an error that says so. */
export function listen(
  server: Pick<Server, 'listen' | 'once' | 'off' | 'address'>,
  address: ServerAddress,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error) => {
      const where = `${address.host ?? '*'}:${address.port}`;
      reject(new Error(`cannot listen on ${where}: ${error.message}`, { cause: error }));
    };
    server.once('error', onError);
    server.listen(address.port, address.host, () => {
      server.off('error', onError);
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
