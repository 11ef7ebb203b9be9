import { connect, createServer } from 'node:net';

export interface Address {
  host: string;
  port: number;
}

/** Hands every connection on `from` to `to`, byte by byte. `to` may be decided anew for each; nobody there ends it. */
export async function forwardPort(from: Address, to: Address | (() => Address | undefined)): Promise<AsyncDisposable> {
  const open = new Set<{ destroy(): void }>();
  const server = createServer((incoming) => {
    const target = typeof to === 'function' ? to() : to;
    if (!target) return void incoming.destroy();
    const outgoing = connect(target);
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(from.port, from.host, resolve);
  });
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
