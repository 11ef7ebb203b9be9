import { VirtualClock } from '@slipway/testing';
import { expect, test } from 'vitest';

import { answer, serve } from '../../test/loopback.ts';
import type { StreamHandler, Transport } from '../transport.ts';
import { undiciTransport } from '../transport/undici-transport.ts';
import { Connection } from './connection.ts';

const limits = { answerMs: 1_000 };
const request = { method: 'GET', path: '/' } as const;

/** A connection over a transport that only notes what is asked of it. */
function scripted() {
  const calls: string[] = [];
  const turns: (() => void)[] = [];
  let stream: StreamHandler | undefined;
  const transport = {
    open(_request: unknown, handler: StreamHandler) {
      stream = handler;
      return { abort: () => calls.push('abort'), pause: () => calls.push('pause'), resume: () => calls.push('resume') };
    },
  } as unknown as Transport;
  const handler = { accepted() {}, data: () => calls.push('data'), ended() {}, refused() {}, broke() {} };
  const connection = new Connection(new VirtualClock(), (turn) => turns.push(turn), handler, limits);
  connection.open(transport, request);
  stream!.head(200, {});
  return { calls, turns, connection, stream: stream! };
}

test('the event loop turns between much data and more', () => {
  const { calls, turns, connection, stream } = scripted();
  const chunk = Buffer.alloc(100 * 1024);
  for (let i = 0; i < 3; i += 1) stream.data(chunk);
  expect(calls).toEqual(['data', 'data', 'data', 'pause']);
  turns.shift()!();
  for (let i = 0; i < 2; i += 1) stream.data(chunk);
  expect(calls.slice(4)).toEqual(['resume', 'data', 'data']);
  expect(turns).toHaveLength(0);
  connection.close();
});

test('what was held back meanwhile comes whole and in order', async () => {
  const lines = Array.from({ length: 40_000 }, (_, index) => `${index} ${'x'.repeat(50)}\n`).join('');
  await using server = await serve(answer(lines));
  const transport = undiciTransport({ server: server.url });
  try {
    let received = '';
    let pauses = 0;
    await new Promise<void>((resolve, reject) => {
      const connection = new Connection(
        new VirtualClock(),
        (turn) => {
          pauses += 1;
          setImmediate(turn);
        },
        {
          accepted() {},
          data: (chunk) => (received += chunk.toString('latin1')),
          ended: resolve,
          refused: () => reject(new Error('refused')),
          broke: (_breakdown, detail) => reject(new Error(detail)),
        },
        limits,
      );
      connection.open(transport, request);
    });
    expect(JSON.parse(received)).toBe(lines);
    expect(pauses).toBeGreaterThan(5);
  } finally {
    await transport.close();
  }
});

test('a connection that was closed while it was held back stays closed', () => {
  const { calls, turns, connection, stream } = scripted();
  stream.data(Buffer.alloc(1024 * 1024));
  connection.close();
  for (const turn of turns) turn();
  expect(calls).toEqual(['data', 'pause', 'abort']);
});
