import { expect, test } from 'vitest';

import type { StreamHandler } from '../../src/transport.ts';
import { makeWorld, recordEvents, Widget } from './world.ts';

const minutes = (count: number) => count * 60_000;

test('a connection that dies without a word is noticed by the missing bookmarks, and resumed where it was (watch failure 1)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  await world.start();
  await clock.advance(minutes(2));
  expect(server.requests).toHaveLength(1);
  const seen = server.version;

  server.freezeWatches();
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 2 } });
  await clock.advance(74_000);
  expect(server.requests).toHaveLength(1);
  await clock.advance(2_000);
  expect(server.requests).toHaveLength(2);
  expect(server.requests[1]!.verb).toBe('watch');
  expect(server.requests[1]!.query.get('resourceVersion')).toBe(String(seen));
  expect(await world.contents()).toEqual({ 'a/one': 2 });
  expect(world.status().counts?.restarts).toEqual({ silent: 1 });
});

test('without bookmarks the end that the server announced is waited for, and not much longer (watch failure 1)', async () => {
  await using world = makeWorld({ streamLists: false });
  const { server, clock } = world;
  server.bookmarks = false;
  await world.start();
  const [watch] = server.requestsOf('watch');
  const announcedMs = Number(watch!.query.get('timeoutSeconds')) * 1000;
  server.freezeWatches();
  server.put(Widget, { namespace: 'a', name: 'late', spec: { size: 1 } });
  await clock.advance(announcedMs + 29_000);
  expect(server.requestsOf('watch')).toHaveLength(1);
  await clock.advance(2_000);
  expect(server.requestsOf('watch')).toHaveLength(2);
  expect(await world.contents()).toEqual({ 'a/late': 1 });
  expect(world.status().counts?.restarts).toEqual({ overdue: 1 });
});

test('every watch asks for another end between five and ten minutes, and for bookmarks (watch failure 1)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  await world.start();
  await clock.advance(minutes(200));
  const seconds = server.requests.map(({ query }) => Number(query.get('timeoutSeconds')));
  expect(seconds.length).toBeGreaterThan(20);
  expect(Math.min(...seconds)).toBeGreaterThanOrEqual(300);
  expect(Math.max(...seconds)).toBeLessThanOrEqual(600);
  expect(new Set(seconds).size).toBeGreaterThan(10);
  expect(server.requests.every(({ query }) => query.get('allowWatchBookmarks') === 'true')).toBe(true);
});

test('a quiet watch lives as long as the server lets it (watch failure 2)', async () => {
  await using world = makeWorld({ streamLists: false });
  const { server, clock } = world;
  server.bookmarks = false;
  await world.start();
  await clock.advance(minutes(4));
  expect(server.requestsOf('watch')).toHaveLength(1);
  expect(server.openWatches).toBe(1);
  expect(world.status().problem).toBeUndefined();
});

test('a guard that fires is no failure: the next real one is answered as fast as the first (watch failure 2)', async () => {
  await using world = makeWorld({ random: { next: () => 0.999, uuid: () => '' } });
  const { server, clock } = world;
  await world.start();
  for (let round = 0; round < 6; round += 1) {
    await clock.advance(1_000);
    server.freezeWatches();
    await clock.advance(76_000);
  }
  expect(world.status().counts?.restarts).toEqual({ silent: 6 });
  const before = server.requests.length;
  server.resetAll();
  await clock.advance(801);
  expect(server.requests).toHaveLength(before + 1);
});

test('a server that never answers is given up after a minute, for a watch (watch failure 3)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  server.next('stream', { type: 'no-answer' });
  world.cache.start();
  await clock.advance(59_000);
  expect(server.requests).toHaveLength(1);
  expect(world.informer.synced).toBe(false);
  await clock.advance(3_000);
  expect(server.requests.length).toBe(2);
  expect(world.informer.synced).toBe(true);
  expect(server.openAnswers).toBe(1);
});

test('a server that never answers is given up after a minute, for a list (watch failure 3)', async () => {
  await using world = makeWorld({ streamLists: false });
  const { server, clock } = world;
  server.next('list', { type: 'no-answer' });
  world.cache.start();
  await clock.advance(59_000);
  expect(server.requests).toHaveLength(1);
  await clock.advance(3_000);
  expect(world.informer.synced).toBe(true);
});

test.each([
  ['a reset', { type: 'reset' }],
  ['500', { type: 'status', code: 500, reason: 'InternalError' }],
  ['502 from a proxy', { type: 'status', code: 502, text: '<html>Bad Gateway</html>' }],
  ['401', { type: 'status', code: 401, reason: 'Unauthorized' }],
  ['403', { type: 'status', code: 403, reason: 'Forbidden' }],
] as const)('%s on the next watch does not end the informer (watch failure 4)', async (_, fault) => {
  await using world = makeWorld();
  const { server, clock } = world;
  await world.start();
  for (let round = 0; round < 5; round += 1) server.next('watch', fault);
  server.resetAll();
  await clock.advance(100);
  server.put(Widget, { namespace: 'a', name: 'after', spec: { size: 1 } });
  await clock.runUntil(() => world.informer.size === 1, minutes(5));
  expect(await world.contents()).toEqual({ 'a/after': 1 });
  expect(world.status().problem).toBeUndefined();
  expect(server.openWatches).toBe(1);
});

test('a transport that throws is a failure like any other (watch failure 4)', async () => {
  await using world = makeWorld();
  const { server, clock, transport } = world;
  const open = transport.open.bind(transport);
  let calls = 0;
  transport.open = (request, handler) => {
    calls += 1;
    if (calls <= 2) throw new Error('no sockets left');
    return open(request, handler);
  };
  world.cache.start();
  expect(world.status().problem).toContain('no sockets left');
  await clock.runUntil(() => world.informer.synced);
  expect(server.openWatches).toBe(1);
});

test('failures are spread out with growing pauses of at most 30 s (watch failure 4)', async () => {
  await using world = makeWorld({ random: { next: () => 0.999, uuid: () => '' } });
  const { server, clock } = world;
  await world.start();
  server.always('watch', { type: 'reset' });
  server.resetAll();
  await clock.advance(minutes(5));
  const times = server.requestsOf('watch').map(({ at }) => at);
  const pauses = times.slice(1).map((at, i) => Math.round((at - times[i]!) / 100) * 100);
  expect(pauses.slice(0, 6)).toEqual([1_600, 3_200, 6_400, 12_800, 25_600, 30_000]);
  expect(Math.max(...pauses)).toBe(30_000);
});

test('two minutes of health make the next failure a first one (watch failure 4)', async () => {
  await using world = makeWorld({ random: { next: () => 0.999, uuid: () => '' } });
  const { server, clock } = world;
  await world.start();
  for (let round = 0; round < 5; round += 1) server.next('watch', { type: 'reset' });
  server.resetAll();
  await clock.advance(minutes(3));
  expect(server.openWatches).toBe(1);
  await clock.advance(minutes(1));
  const before = server.requests.length;
  server.resetAll();
  await clock.advance(801);
  expect(server.requests).toHaveLength(before + 1);
});

test('starting twice starts once (watch failure 5)', async () => {
  await using world = makeWorld();
  world.cache.start();
  world.cache.start();
  await world.start();
  world.cache.informer(Widget);
  await world.clock.advance(minutes(1));
  expect(world.server.requests).toHaveLength(1);
  expect(world.server.openWatches).toBe(1);
});

const ghost = JSON.stringify({
  type: 'ADDED',
  object: {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'ghost', namespace: 'a', resourceVersion: '1' },
    spec: { size: 0 },
  },
});

test('what a connection says after it was given up changes nothing (watch failure 5)', async () => {
  await using world = makeWorld();
  const { server, clock, transport } = world;
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  await world.start();
  transport.lateLine = ghost;
  // The watch goes silent, is given up and replaced; then the old one wakes up.
  server.freezeWatches();
  await clock.advance(minutes(2));
  const requests = server.requests.length;
  expect(transport.deliverLate()).toBe(3);
  await clock.advance(10_000);
  expect(server.requests).toHaveLength(requests);
  expect(server.openWatches).toBe(1);
  expect(await world.contents()).toEqual({ 'a/one': 1 });
});

test('an end and an error for the same connection make one reconnect (watch failure 6)', async () => {
  await using world = makeWorld();
  const { server, clock, transport } = world;
  await world.start();
  transport.lateLine = ghost;
  for (let round = 1; round <= 5; round += 1) {
    await clock.advance(2_000);
    server.endWatches();
    expect(transport.deliverLate()).toBe(3);
    await clock.advance(1_000);
    expect(server.requests).toHaveLength(round + 1);
    expect(server.openWatches).toBe(1);
  }
  expect(world.informer.size).toBe(0);
});

test('an error event as the very last bytes of a stream makes one reconnect (watch failure 6)', async () => {
  await using world = makeWorld();
  const { server, clock, transport } = world;
  await world.start();
  const open = transport.open.bind(transport);
  const handlers: StreamHandler[] = [];
  transport.open = (request, handler) => {
    handlers.push(handler);
    return open(request, handler);
  };
  await clock.advance(2_000);
  server.endWatches();
  await clock.advance(2_000);
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  const status = { kind: 'Status', code: 410, reason: 'Expired' };
  handlers[0]!.data(Buffer.from(JSON.stringify({ type: 'ERROR', object: status })));
  handlers[0]!.end();
  await clock.advance(10_000);
  expect(world.status().counts?.restarts).toEqual({ closed: 1, expired: 1 });
  expect(server.openWatches).toBe(2);
});

test('the last events before the end of a stream are not lost (watch failure 7)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  await world.start();
  server.endWatches();
  server.next('watch', { type: 'end', after: 3 });
  await clock.advance(2_000);
  const events = recordEvents(world.informer);
  for (let i = 0; i < 4; i += 1) server.put(Widget, { namespace: 'a', name: `w${i}`, spec: { size: i } });
  await clock.advance(2_000);
  expect(events).toEqual(['added a/w0', 'added a/w1', 'added a/w2', 'added a/w3']);
});

test('a handler that throws hurts neither the informer nor the other handlers (watch failure 8)', async () => {
  await using world = makeWorld();
  const { server } = world;
  await world.start();
  world.informer.onEvent(() => {
    throw new Error('handler is broken');
  });
  world.informer.onEvent((async () => {
    throw new Error('async handler is broken');
  }) as () => void);
  const events = recordEvents(world.informer);
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  server.remove(Widget, 'a/one');
  await world.clock.advance(1);
  expect(events).toEqual(['added a/one', 'deleted a/one']);
  expect(world.status().counts?.handlerErrors).toBe(4);
  expect(server.openWatches).toBe(1);
  expect(world.warnings.join('\n')).toContain(
    'an event handler of Widget.v1.example.com failed Error: handler is broken',
  );
});

test.each([
  ['text', 'upstream connect error or disconnect/reset before headers'],
  ['half an event', '{"type":"ADDED","object":{"metadata":{"name":"x"'],
  ['an event without an object', '{"type":"ADDED"}'],
  ['an event of no known type', '{"type":"RENAMED","object":{"metadata":{"name":"x","namespace":"a"}}}'],
  ['an object without a name', '{"type":"ADDED","object":{"apiVersion":"v1","kind":"Widget","metadata":{}}}'],
])('a line that is %s drops the connection, and the watch goes on where it was (watch failure 8)', async (_, line) => {
  await using world = makeWorld();
  const { server, clock } = world;
  await world.start();
  server.endWatches();
  server.next('watch', { type: 'garbage', after: 1, line });
  await clock.advance(2_000);
  server.put(Widget, { namespace: 'a', name: 'before', spec: { size: 1 } });
  const seen = server.version;
  server.put(Widget, { namespace: 'a', name: 'after', spec: { size: 2 } });
  expect(world.informer.size).toBe(1);
  expect(world.status().problem).toContain('cannot be read');
  await clock.advance(5_000);
  expect(await world.contents()).toEqual({ 'a/after': 2, 'a/before': 1 });
  expect(server.requests.at(-1)!.query.get('resourceVersion')).toBe(String(seen));
  expect(world.status().counts?.restarts['undecodable']).toBe(1);
  expect(world.status().problem).toBeUndefined();
});

test('a server that keeps sending garbage after the same version is asked for everything anew (watch failure 8)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  await world.start();
  server.always('watch', { type: 'garbage', after: 0, line: 'garbage' });
  server.endWatches();
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  await clock.advance(minutes(1));
  expect(server.requestsOf('stream')).toHaveLength(2);
  expect(await world.contents()).toEqual({ 'a/one': 1 });
});

test('an object that turns out not to be JSON when it is read is loaded again (watch failure 8)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  await world.start();
  server.endWatches();
  const stored = server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  const broken = JSON.stringify({ type: 'ADDED', object: stored }).replace('"size":1', '"size":!');
  server.next('watch', { type: 'garbage', after: 0, line: broken });
  await clock.advance(2_000);
  const key = { namespace: 'a', name: 'one' };
  await expect(world.cache.get(Widget, key)).rejects.toThrow('Widget.v1.example.com a/one: the server sent an object');
  await clock.advance(5_000);
  expect((await world.cache.get(Widget, key))?.spec.size).toBe(1);
});
