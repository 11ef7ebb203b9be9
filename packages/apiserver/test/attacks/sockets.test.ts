import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCluster } from '../../src/index.ts';
import { listen } from '../../src/http/http-server.ts';
import { attackedServer, type AttackedServer } from './attacked-server.ts';

let server: AttackedServer;
beforeAll(async () => {
  server = await attackedServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const maps = '/api/v1/namespaces/default/configmaps';

async function stillServes(): Promise<void> {
  const answer = await server.call({ path: '/readyz' }).catch((error: unknown) => ({ status: 0, text: String(error) }));
  expect({ ...answer, ended: server.ended }).toEqual({ status: 200, text: 'ok', ended: undefined });
}

const upgrade = (extra = '') =>
  `GET /api/v1/namespaces/default/pods/p/exec HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n${extra}\r\n`;

it.each<[string, (socket: Socket) => void]>([
  ['resets at once', (socket) => socket.resetAndDestroy()],
  [
    'sends frames nobody reads and resets',
    (socket) => socket.write(Buffer.alloc(1 << 20), () => socket.resetAndDestroy()),
  ],
  ['ends and resets', (socket) => socket.end(() => socket.resetAndDestroy())],
])('a WebSocket client that %s ends nothing but its connection', async (_, misbehave) => {
  for (let round = 0; round < 30; round += 1) {
    const socket = await server.connect();
    socket.write(upgrade());
    misbehave(socket);
    if (!socket.destroyed) await once(socket, 'close');
  }
  await stillServes();
});

it.each([
  ['CONNECT', 'CONNECT evil.example:443 HTTP/1.1\r\nhost: localhost\r\n\r\n'],
  ['an expectation nobody can meet', `POST ${maps} HTTP/1.1\r\nhost: localhost\r\nexpect: the-impossible\r\n\r\n`],
  ['an upgrade to HTTP/2', 'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'],
  ['a path that is no URL', 'GET // HTTP/1.1\r\nhost: localhost\r\n\r\n'],
  ['a path with a host', 'GET http://evil.example/api HTTP/1.1\r\nhost: localhost\r\n\r\n'],
  [
    'a header no answer could carry',
    `GET ${maps}?labelSelector=%0d%0aset-cookie:x HTTP/1.1\r\nhost: localhost\r\n\r\n`,
  ],
  ['a watch that is reset', `GET ${maps}?watch=true HTTP/1.1\r\nhost: localhost\r\n\r\n`],
  ['half a body', `POST ${maps} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{`],
  ['a hundred requests in one breath', `GET ${maps} HTTP/1.1\r\nhost: localhost\r\n\r\n`.repeat(100)],
])('%s and a reset end nothing but the connection', async (_, bytes) => {
  for (let round = 0; round < 10; round += 1) {
    const socket = await server.connect();
    socket.write(bytes);
    if (round % 2 === 0)
      await Promise.race([once(socket, 'data'), once(socket, 'close'), once(socket, 'drain'), turn()]);
    socket.resetAndDestroy();
  }
  await stillServes();
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('a body that never ends is given up after a while, and its connection with it', async () => {
  await using cluster = await startCluster({ controllers: 'none' });
  const listener = await listen(cluster.server, { port: 0, host: '127.0.0.1', requestTimeoutMs: 50 });
  try {
    const { connect } = await import('node:net');
    const slow = (['content-length: 1000', 'transfer-encoding: chunked'] as const).map((header) => {
      const socket = connect(listener.port, '127.0.0.1', () =>
        socket.write(`POST ${maps} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${header}\r\n\r\n`),
      );
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      socket.on('error', () => undefined);
      return new Promise<string>((resolve) => {
        socket.once('close', () => resolve(text));
      });
    });
    for (const text of await Promise.all(slow)) expect(text).toMatch(/^HTTP\/1\.1 408 |^$/);
  } finally {
    await listener.close();
  }
});

it('a watch of 40 MB waits for a reader that begins late, and misses nothing', { timeout: 60_000 }, async () => {
  await using cluster = await startCluster({ port: 0, controllers: 'none' });
  const value = 'x'.repeat(800_000);
  const write = async (name: string) => {
    const { status } = await cluster.transport.send({
      method: 'POST',
      path: maps,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name }, data: { value } }),
    });
    expect(status).toBe(201);
  };
  const names = (prefix: string) =>
    Array.from({ length: 25 }, (_, index) => `${prefix}${String(index).padStart(2, '0')}`);
  for (const name of names('before')) await write(name);
  const { connect } = await import('node:net');
  const socket = connect(Number(new URL(cluster.url).port), '127.0.0.1');
  socket.pause();
  socket.write(
    `GET ${maps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true HTTP/1.0\r\nhost: localhost\r\n\r\n`,
  );
  await once(socket, 'readable');
  for (const name of names('later')) await write(name);
  const seen: string[] = [];
  let rest = '';
  const done = new Promise<void>((resolve, reject) => {
    socket.once('close', () => reject(new Error(`cut off after ${seen.length} events`)));
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        const name = /"name":"((?:before|later)\d\d)"/.exec(line.slice(0, 300))?.[1];
        if (name) seen.push(name);
        else if (line.includes('k8s.io/initial-events-end')) seen.push('end of the beginning');
      }
      if (seen.at(-1) === 'later24') resolve();
    });
  });
  await done;
  socket.destroy();
  expect(seen).toEqual([...names('before'), 'end of the beginning', ...names('later')]);
});
