import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import type { FaultyServer } from './faulty-server.ts';

/** A faulty server behind a real socket. */
export class TcpServer implements AsyncDisposable {
  readonly #http: Server;
  readonly sockets = new Set<Socket>();
  /** Connections ever made. */
  connections = 0;
  readonly authorizations: (string | undefined)[] = [];
  /** When set, requests without this token are answered 401. */
  token: string | undefined;

  private constructor(http: Server) {
    this.#http = http;
  }

  static async listen(faulty: FaultyServer): Promise<TcpServer> {
    const http = createServer();
    const server = new TcpServer(http);
    http.on('connection', (socket) => {
      server.connections += 1;
      server.sockets.add(socket);
      socket.on('close', () => server.sockets.delete(socket));
      socket.on('error', () => {});
    });
    http.on('request', (request, response) => {
      const { authorization } = request.headers;
      server.authorizations.push(authorization);
      if (server.token !== undefined && authorization !== `Bearer ${server.token}`) {
        response.writeHead(401, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ kind: 'Status', code: 401, reason: 'Unauthorized', message: 'Unauthorized' }));
        return;
      }
      const gone = faulty.handle(request.url ?? '/', request.headers.accept ?? '', {
        head: (status, headers) => {
          response.writeHead(status, headers);
          response.flushHeaders();
        },
        data: (chunk) => void response.write(chunk),
        end: () => void response.end(),
        reset: () => void response.socket?.resetAndDestroy(),
      });
      response.on('close', gone);
      response.on('error', () => {});
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#http.close(() => resolve()));
  }
}
