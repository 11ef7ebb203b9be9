import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCluster, type Cluster } from '../../src/index.ts';

let cluster: Cluster;
let port: number;
beforeAll(async () => {
  cluster = await startCluster({ port: 0, controllers: 'none' });
  port = Number(new URL(cluster.url).port);
});
afterAll(() => cluster.stop());

const maps = '/api/v1/namespaces/default/configmaps';

/** Sends bytes as they are and gives what comes back until the server closes or has answered. */
function exchange(bytes: string | Buffer, enough: (text: string) => boolean = () => false): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setTimeout(10_000, () => {
      socket.destroy();
      reject(new Error(`no answer to ${JSON.stringify(bytes.toString().slice(0, 100))}`));
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (enough(text)) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

const answered = (text: string) => /^HTTP\/1\.1 \d{3}/.test(text) && text.includes('\r\n\r\n');

it('bytes that are no HTTP get an answer or an end, and harm nobody', async () => {
  for (const bytes of [
    'nonsense\r\n\r\n',
    '\0\0\0\0',
    'GET  HTTP/1.1\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'GET /\0 HTTP/1.1\r\nhost: localhost\r\n\r\n',
    `GET ${'/'.repeat(20_000)} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
    `GET / HTTP/1.1\r\nhost: localhost\r\n${'a: b\r\n'.repeat(5_000)}\r\n`,
    `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
    `POST ${maps} HTTP/1.1\r\nhost: localhost\r\ncontent-length: -5\r\n\r\n`,
    `POST ${maps} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`,
    `POST ${maps} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ]) {
    await exchange(bytes, answered);
  }
  expect(await exchange('GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')).toContain('200 OK');
});

it('a body over the limit is refused with a Status, also when it comes in pieces of unknown number', async () => {
  const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  const head = `POST ${maps} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
  const text = await exchange(`${head}${piece.repeat(64)}0\r\n\r\n`, (so) => so.includes('"code":413'));
  expect(text).toContain('413 ');
  expect(text).toContain('"reason":"RequestEntityTooLarge"');
});

it('a request that never ends does not keep the server from stopping', async () => {
  const own = await startCluster({ port: 0, controllers: 'none' });
  const socket = connect(Number(new URL(own.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    socket.once('connect', resolve);
  });
  socket.write(`POST ${maps} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{`);
  const closed = new Promise((resolve) => {
    socket.once('close', resolve);
  });
  await own.stop();
  await closed;
});

it('1 000 idle watchers and a slow one keep memory within bounds', { timeout: 300_000 }, async () => {
  const collect = globalThis.gc;
  if (!collect) throw new Error('tests need --expose-gc');
  const watchers: Socket[] = [];
  const open = () =>
    new Promise<Socket>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', reject);
      socket.once('data', () => resolve(socket));
      socket.write(`GET ${maps}?watch=true&labelSelector=nobody%3Dhere HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    });
  collect();
  const before = process.memoryUsage();
  for (let count = 0; count < 1_000; count += 50) {
    watchers.push(...(await Promise.all(Array.from({ length: 50 }, open))));
  }
  const slow = connect(port, '127.0.0.1');
  slow.on('error', () => undefined);
  slow.write(`GET ${maps}?watch=true HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  await new Promise<void>((resolve) => {
    slow.once('readable', resolve);
  });
  slow.pause();
  const value = 'x'.repeat(200_000);
  const send = (method: 'POST' | 'PATCH', path: string, body: object) =>
    cluster.transport.send({
      method,
      path,
      headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
      body: JSON.stringify(body),
    });
  expect((await send('POST', maps, { metadata: { name: 'big' }, data: { value } })).status).toBe(201);
  // 60 MB of events for who does not read.
  for (let round = 0; round < 300; round += 1) {
    expect((await send('PATCH', `${maps}/big`, { data: { round: `${round}` } })).status).toBe(200);
  }
  cluster.compact();
  collect();
  const after = process.memoryUsage();
  const grown = (after.heapUsed + after.external - before.heapUsed - before.external) / 1e6;
  for (const socket of [...watchers, slow]) socket.destroy();
  // Both ends of 1 000 connections live in this process; a queue without bounds alone would hold 60 MB more.
  expect(grown).toBeLessThan(100);
  expect((await cluster.transport.send({ method: 'GET', path: '/readyz' })).status).toBe(200);
});
