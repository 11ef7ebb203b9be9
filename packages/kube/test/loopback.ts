import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import {
  connect as connectTcp,
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  createCertificateAuthority,
  type CertificateAuthority,
  type KeyAndCertificate,
} from '../../../tools/reference-cluster/certificates.ts';

export { createCertificateAuthority, type CertificateAuthority, type KeyAndCertificate };

export interface Loopback extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Connections open now. */
  readonly open: number;
}

/** An HTTP server on loopback, or an HTTPS one when it is given a certificate. */
export async function serve(handler: RequestListener, tls?: KeyAndCertificate & ServerOptions): Promise<Loopback> {
  const server = tls
    ? createHttpsServer({ ...tls, cert: tls.certificate, key: tls.key }, handler)
    : createHttpServer(handler);
  return listen(server, tls ? 'https' : 'http');
}

async function listen(server: Server, scheme: string): Promise<Loopback> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A proxy that answers `CONNECT` and counts what it was asked for. */
export async function serveProxy(requests: { target: string; authorization: string | undefined }[]): Promise<Loopback> {
  const server = createHttpServer();
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    requests.push({ target: request.url ?? '', authorization: request.headers['proxy-authorization'] });
    pipe(socket, Number(request.url?.split(':').at(-1)), () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
  });
  return listen(server, 'http');
}

/** A SOCKS5 proxy with user and password. */
export async function serveSocks(requests: string[], password: string): Promise<Loopback> {
  const server = createTcpServer((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.from([5, 2]));
      socket.once('data', (login: Buffer) => {
        const userLength = login[1]!;
        const given = login.subarray(3 + userLength).toString();
        socket.write(Buffer.from([1, given === password ? 0 : 1]));
        if (given !== password) return;
        socket.once('data', (request: Buffer) => {
          const host = request.subarray(5, 5 + request[4]!).toString();
          const port = request.readUInt16BE(5 + request[4]!);
          requests.push(`${host}:${port}`);
          pipe(socket, port, () => socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0])));
        });
      });
    });
  });
  return listen(server, 'socks5');
}

function pipe(socket: Socket, port: number, established: () => void): void {
  const upstream = connectTcp(port, '127.0.0.1', () => {
    established();
    upstream.pipe(socket).pipe(upstream);
  });
  upstream.on('error', () => socket.destroy());
  socket.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
}

export interface Folder extends AsyncDisposable {
  readonly path: string;
  write(name: string, content: string): Promise<string>;
}

/** A folder that is gone after the test. */
export async function folder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'kube-'));
  return {
    path,
    async write(name, content) {
      const file = join(path, name);
      await writeFile(file, content, { mode: 0o755 });
      return file;
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

export function answer(body: unknown): RequestListener {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
}
