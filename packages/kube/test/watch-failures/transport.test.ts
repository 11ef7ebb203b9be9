import { getEventListeners } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';

import { afterEach, expect, test, vi } from 'vitest';

import { seededRandom } from '../../src/random.ts';
import type { Cache } from '../../src/cache.ts';
import { createCache } from '../../src/cache/create-cache.ts';
import { systemClock } from '../../src/clock.ts';
import type { Connection } from '../../src/connection.ts';
import { undiciTransport } from '../../src/transport/undici-transport.ts';
import { FaultyServer } from '../faulty-server/faulty-server.ts';
import { TcpServer } from '../faulty-server/tcp-server.ts';
import { createCertificateAuthority } from '../loopback.ts';
import { Widget } from './world.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

function makeCache(connection: Connection): Cache {
  const transport = undiciTransport(connection);
  const cache = createCache({
    transport,
    clock: systemClock,
    random: seededRandom(1),
    timings: { backOff: { baseMs: 1, maxMs: 5 } },
  });
  cleanUps.push(async () => {
    await cache.stop();
    await transport.close();
  });
  return cache;
}

async function makeTcpWorld(connection: Partial<Connection> = {}) {
  const server = new FaultyServer(systemClock);
  server.serve(Widget);
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  const tcp = await TcpServer.listen(server);
  cleanUps.push(() => tcp[Symbol.asyncDispose]());
  const cache = makeCache({ server: tcp.url, ...connection });
  const informer = cache.informer(Widget);
  return { server, tcp, cache, informer };
}

/** Resolves when `informer` tells of an object called `name`. */
function told(informer: ReturnType<Cache['informer']>, name: string): Promise<void> {
  return new Promise((resolve) => {
    informer.onEvent(({ key }) => {
      if (key.name === name) resolve();
    });
  });
}

test('watches and requests speak HTTP/1.1 to a server that would rather speak HTTP/2 (watch failure 16)', async () => {
  const authority = await createCertificateAuthority('test');
  const leaf = await authority.issue({ commonName: 'server', ipAddresses: ['127.0.0.1'], dnsNames: ['localhost'] });
  const server = new FaultyServer(systemClock);
  server.serve(Widget);
  const versions: string[] = [];
  const h2 = createSecureServer({ allowHTTP1: true, cert: leaf.certificate, key: leaf.key }, (request, response) => {
    versions.push(request.httpVersion);
    server.handle(request.url, request.headers.accept ?? '', {
      head: (status, headers) => void response.writeHead(status, headers),
      data: (chunk) => void (response as unknown as NodeJS.WritableStream).write(chunk),
      end: () => void response.end(),
      reset: () => response.stream?.close(),
    });
  });
  let sessions = 0;
  h2.on('session', () => {
    sessions += 1;
  });
  await new Promise<void>((resolve) => h2.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => h2.close());
  const url = `https://127.0.0.1:${(h2.address() as AddressInfo).port}`;
  const cache = makeCache({ server: url, tls: { ca: authority.certificate } });
  cache.informer(Widget);
  cache.start();
  await cache.synced();
  expect(versions).toEqual(['1.1']);
  expect(sessions).toBe(0);
});

test('many watches at once each have a connection, and a server that hangs up politely loses nothing (watch failure 17)', async () => {
  const namespaces = Array.from({ length: 12 }, (_, i) => `n${i}`);
  const server = new FaultyServer(systemClock);
  server.serve(Widget);
  const tcp = await TcpServer.listen(server);
  cleanUps.push(() => tcp[Symbol.asyncDispose]());
  const cache = makeCache({ server: tcp.url });
  const informer = cache.informer(Widget, { namespaces });
  cache.start();
  await cache.synced();
  expect(server.openWatches).toBe(12);
  expect(tcp.sockets.size).toBe(12);
  for (const round of [1, 2]) {
    const all = namespaces.map((namespace) => told(informer, `${namespace}-${round}`));
    server.endWatches();
    for (const socket of tcp.sockets) socket.end();
    for (const namespace of namespaces)
      server.put(Widget, { namespace, name: `${namespace}-${round}`, spec: { size: 1 } });
    await Promise.all(all);
  }
  expect(informer.size).toBe(24);
});

test('waiting with a signal that lives as long as the process leaves nothing on it (watch failure 18)', async () => {
  const { cache, tcp, informer, server } = await makeTcpWorld();
  const { signal } = new AbortController();
  const warnings: unknown[] = [];
  const onWarning = (warning: unknown) => warnings.push(warning);
  process.on('warning', onWarning);
  cleanUps.push(() => process.off('warning', onWarning));
  const waits = Array.from({ length: 30 }, () => cache.synced(signal));
  cache.start();
  await Promise.all(waits);
  for (let round = 0; round < 30; round += 1) {
    const next = told(informer, `w${round}`);
    server.resetAll();
    server.put(Widget, { namespace: 'a', name: `w${round}`, spec: { size: round } });
    await next;
  }
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  expect(tcp.sockets.size).toBeLessThanOrEqual(2);
  expect(warnings).toEqual([]);
});

test('a watch that is refused with 401 comes back with the token that replaced the old one (watch failure 20)', async () => {
  let token = 'first';
  const { cache, tcp, informer, server } = await makeTcpWorld({
    credentials: {
      current: async () => ({ authorization: `Bearer ${token}` }),
      refused: async ({ authorization }) => authorization !== `Bearer ${token}`,
    },
  });
  tcp.token = 'first';
  cache.start();
  await cache.synced();
  tcp.token = 'second';
  const next = told(informer, 'after');
  server.resetAll();
  server.put(Widget, { namespace: 'a', name: 'after', spec: { size: 2 } });
  await vi.waitFor(() => expect(cache.status()[0]!.problem).toContain('does not accept the credentials'));
  token = 'second';
  await next;
  expect(tcp.authorizations.at(-1)).toBe('Bearer second');
  await vi.waitFor(() => expect(cache.status()[0]!.problem).toBeUndefined());
});

test('a watch that ends properly goes on over the connection it had (watch failure 21)', async () => {
  const { cache, tcp, informer, server } = await makeTcpWorld();
  cache.start();
  await cache.synced();
  for (let round = 0; round < 20; round += 1) {
    const next = told(informer, `w${round}`);
    server.endWatches();
    server.put(Widget, { namespace: 'a', name: `w${round}`, spec: { size: round } });
    await next;
  }
  expect(server.requests.length).toBeGreaterThan(20);
  expect(tcp.connections).toBeLessThanOrEqual(2);
});

test('rows 1 to 8 over a real socket: resets, garbage and split characters', async () => {
  const { cache, server, informer, tcp } = await makeTcpWorld();
  server.next('stream', { type: 'pieces', bytes: 3 });
  server.put(Widget, { namespace: 'a', name: 'umlaut', spec: { size: 1, note: 'Größe: 5 €, 𝄞' } });
  cache.start();
  await cache.synced();
  expect((await cache.get(Widget, { namespace: 'a', name: 'umlaut' }))?.spec.note).toBe('Größe: 5 €, 𝄞');
  server.next('watch', { type: 'garbage', after: 0, line: 'Bad Gateway' });
  server.next('watch', { type: 'reset' });
  server.next('watch', { type: 'status', code: 500 });
  const next = told(informer, 'after');
  server.resetAll();
  server.put(Widget, { namespace: 'a', name: 'after', spec: { size: 2 } });
  await next;
  expect(informer.size).toBe(3);
  expect(tcp.sockets.size).toBeLessThanOrEqual(3);
});
