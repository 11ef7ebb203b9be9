import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Pair {
  readonly certificate: string;
  readonly key: string;
}

/** A stand-in for the service operator: its webhooks serve the mounted certificate and allow everything. */
export class StandIn {
  readonly #server: Server;
  /** Reviews it was asked for. */
  calls = 0;

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.calls += 1;
        const review = JSON.parse(Buffer.concat(chunks).toString()) as { apiVersion: string; request: { uid: string } };
        const answer = { ...review, request: undefined, response: { uid: review.request.uid, allowed: true } };
        // Every call is a handshake of its own.
        response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
        response.end(JSON.stringify(answer));
      });
    });
  }

  /** The port it listens on. */
  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  mount({ certificate, key }: Pair): void {
    this.#server.setSecureContext({ cert: certificate, key });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
