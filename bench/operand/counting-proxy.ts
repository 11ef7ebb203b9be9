import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Passes bytes through, encrypted as they are, and counts them. */
export class CountingProxy implements AsyncDisposable {
  readonly #server = createServer((client) => this.#join(client));
  readonly #target: { host: string; port: number };
  readonly #sockets = new Set<Socket>();
  #bytes = 0;

  private constructor(target: URL) {
    this.#target = { host: target.hostname, port: Number(target.port) };
  }

  static async start(target: string): Promise<CountingProxy> {
    const proxy = new CountingProxy(new URL(target));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Both directions, so far. */
  get bytes(): number {
    return this.#bytes;
  }

  #join(client: Socket): void {
    const server = connect(this.#target);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay(true);
      from.on('data', (chunk: Buffer) => {
        this.#bytes += chunk.length;
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
