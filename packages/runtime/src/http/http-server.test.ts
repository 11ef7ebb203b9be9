import { connect } from 'node:net';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { memoryLogger } from '../log/logger.ts';
import { answerProbe } from './health.ts';
import { type RunningServer, serveHttp } from './http-server.ts';

const uncaught: unknown[] = [];
const note = (error: unknown) => void uncaught.push(error);
let server: RunningServer;
const log = memoryLogger();

beforeEach(async () => {
  uncaught.length = 0;
  process.on('uncaughtException', note).on('unhandledRejection', note);
  const probes = { healthz: new Map([['ping', () => undefined]]), readyz: () => new Map() };
  server = await serveHttp({ port: 0, host: '127.0.0.1' }, ({ path }) => answerProbe(path, probes), log);
});

afterEach(async () => {
  await server.close();
  process.off('uncaughtException', note).off('unhandledRejection', note);
});

/** What the server says to these bytes, until it hangs up; `reset` hangs up first, and rudely. */
function say(bytes: string, reset = false): Promise<string> {
  return new Promise((resolve) => {
    let heard = '';
    const socket = connect(server.port, '127.0.0.1', () => {
      socket.write(bytes, () => reset && socket.resetAndDestroy());
    });
    socket.setEncoding('utf8').on('data', (text: string) => (heard += text));
    socket.on('error', () => undefined).on('close', () => resolve(heard));
  });
}

const get = (target: string) => `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`;

test.each([
  ['//', 404],
  ['///', 404],
  ['/healthz/%', 404],
  ['/healthz/%E0%A4%A', 404],
  ['//healthz', 404],
  ['*', 404],
  ['http://[', 404],
  ['http://x/healthz', 404],
  ['/healthz?verbose=%', 200],
  ['/healthz/ping', 200],
  ['/healthz/__proto__', 404],
  [`/${'a'.repeat(10_000)}`, 404],
])('GET %s is answered', async (target, status) => {
  expect(await say(get(target))).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(await say(get('/healthz'))).toMatch(/^HTTP\/1.1 200 /);
  expect(uncaught).toEqual([]);
});

test.each([
  ['no HTTP at all', '\0\0\0\x16\x03\x01\r\n\r\n'],
  ['a header without an end', `GET / HTTP/1.1\r\nx: ${'a'.repeat(100_000)}`],
  ['an upgrade', 'GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'],
  ['a CONNECT', 'CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
  ['an expectation', 'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: 200-maybe\r\n\r\n'],
])('%s, and a reset in the middle of it, leaves the server standing', async (_what, bytes) => {
  await say(bytes, true);
  expect(await say(get('/healthz'))).toMatch(/^HTTP\/1.1 200 /);
  expect(uncaught).toEqual([]);
});

test('an answer that throws, at once or later, is a 500 and a line in the log', async () => {
  await server.close();
  let thrower = (): Promise<never> => Promise.reject(new Error('later'));
  server = await serveHttp({ port: 0, host: '127.0.0.1' }, () => thrower(), log);
  expect(await say(get('/'))).toMatch(/^HTTP\/1.1 500 /);
  thrower = () => {
    throw new Error('at once');
  };
  expect(await say(get('/'))).toMatch(/^HTTP\/1.1 500 /);
  expect(log.entries.map(({ fields }) => (fields['error'] as Error).message)).toEqual(['later', 'at once']);
  expect(uncaught).toEqual([]);
});
