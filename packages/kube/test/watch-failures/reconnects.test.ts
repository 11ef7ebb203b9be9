import { expect, test } from 'vitest';

import { makeWorld, Widget } from './world.ts';

test('10 000 reconnects grow neither memory nor connections nor timers', async () => {
  await using world = makeWorld({ log: undefined, random: { next: () => 0.5, uuid: () => '' } });
  const { server, clock } = world;
  for (let i = 0; i < 100; i += 1) {
    server.put(Widget, { namespace: 'a', name: `w${i}`, spec: { size: i, note: 'x'.repeat(500) } });
  }
  await world.start();
  let heard = 0;
  world.informer.onEvent(() => {
    heard += 1;
  });
  let round = 0;
  /** Ends, resets, half-open streams, garbage, 410 in and out of the stream, 500 and 429, in turn. */
  const reconnect = async () => {
    round += 1;
    switch (round % 8) {
      case 0:
        server.next('watch', { type: 'status', code: 500 });
        break;
      case 1:
        server.next('watch', { type: 'status', code: 429, retryAfter: 1 });
        break;
      case 2:
        server.next('watch', { type: 'error-event', after: 1, code: 410, reason: 'Expired' });
        break;
      case 3:
        server.next('watch', { type: 'garbage', after: 0, line: 'garbage' });
        break;
      case 4:
        server.compact();
        break;
      case 5:
        server.next('watch', { type: 'half-open', after: 0 });
        break;
      default:
        break;
    }
    if (round % 2 === 0) server.endWatches();
    else server.resetAll();
    server.put(Widget, { namespace: 'a', name: `w${round % 100}`, spec: { size: round, note: 'x'.repeat(500) } });
    const before = server.requests.length;
    await clock.runUntil(() => server.openWatches === 1 && server.requests.length > before, 300_000);
    server.requests.length = 0;
    if (round % 50 === 0) server.compact();
  };
  const measure = async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      globalThis.gc!();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  for (let i = 0; i < 1_000; i += 1) await reconnect();
  const before = await measure();
  for (let i = 0; i < 9_000; i += 1) await reconnect();
  const after = await measure();
  // A watch that left 350 bytes behind would show.
  expect(after - before).toBeLessThan(3_000_000);
  expect(heard).toBeGreaterThan(10_000);
  expect(server.openAnswers).toBe(1);
  expect(server.openWatches).toBe(1);
  expect(clock.pending).toBeLessThan(10);
  await clock.advance(300_000);
  expect(await world.contents()).toEqual(
    Object.fromEntries([...server.objects(Widget)].map(([key, { spec }]) => [key, (spec as { size: number }).size])),
  );
}, 300_000);
