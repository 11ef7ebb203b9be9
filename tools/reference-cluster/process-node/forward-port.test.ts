import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { forwardPort } from './forward-port.ts';

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('a forwarded port', () => {
  it('carries bytes both ways, and breaks its connections when it closes', async () => {
    const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    const from = { host: '127.0.0.1', port: await freePort() };
    const forwarding = await forwardPort(from, { host: '127.0.0.1', port: (echo.address() as AddressInfo).port });
    const socket = connect(from);
    socket.write('hello');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toBe('hello');
    const closed = once(socket, 'close');
    await forwarding[Symbol.asyncDispose]();
    await closed;
    echo.close();
  });

  it('asks for every connection where it leads, and ends it where nobody is', async () => {
    const from = { host: '127.0.0.1', port: await freePort() };
    let asked = 0;
    await using _forwarding = await forwardPort(from, () => {
      asked += 1;
      return undefined;
    });
    for (const count of [1, 2]) {
      await once(
        connect(from).on('error', () => {}),
        'close',
      );
      expect(asked).toBe(count);
    }
  });

  it('ends a connection whose target is not there', async () => {
    const from = { host: '127.0.0.1', port: await freePort() };
    await using _forwarding = await forwardPort(from, { host: '127.0.0.1', port: await freePort() });
    await once(connect(from), 'close');
  });
});
