import { createServer, request as send, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

import type { ChartServer } from './chart-server.ts';

/** A proxy on the loopback interface that leads names to servers, and remembers what it was asked and by whom. */
export class LoopbackProxy implements AsyncDisposable {
  /** `GET http://host/path` or `CONNECT host:port`, and the user that was named. */
  readonly asked: { readonly request: string; readonly user: string }[] = [];
  readonly #names: Readonly<Record<string, ChartServer>>;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  /** By name, with the port where it is not the usual one. */
  constructor(names: Readonly<Record<string, ChartServer>>) {
    this.#names = names;
    this.#server = createServer((request, response) => this.#pass(request, response));
    this.#server.on('connect', (request: IncomingMessage, socket: Socket) => this.#tunnel(request, socket));
    this.#server.on('connection', (socket: Socket) => void this.#sockets.add(socket));
  }

  async start(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return this;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const url = this.#note(request);
    const { host, pathname, search } = new URL(url);
    const server = this.#names[host];
    if (!server) return void response.writeHead(502).end();
    const { 'proxy-authorization': _, ...headers } = request.headers;
    const onward = send(`${server.url}${pathname}${search}`, { method: request.method!, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }

  #tunnel(request: IncomingMessage, socket: Socket): void {
    const server = this.#names[this.#note(request).replace(/:443$/, '')];
    if (!server) return void socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    const [host, port] = server.host.split(':') as [string, string];
    const onward = connect(Number(port), host, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    onward.pipe(socket).pipe(onward);
    for (const end of [onward, socket]) end.on('error', () => undefined);
  }

  #note({ method, url = '', headers }: IncomingMessage): string {
    const [, pair = ''] = (headers['proxy-authorization'] ?? '').split(' ');
    this.asked.push({ request: `${method} ${url}`, user: Buffer.from(pair, 'base64').toString('utf8') });
    return url;
  }
}
