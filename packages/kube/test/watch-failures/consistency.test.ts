import { afterEach, expect, test } from 'vitest';

import { seededRandom } from '../../src/random.ts';
import { createCache } from '../../src/cache/create-cache.ts';
import { systemClock } from '../../src/clock.ts';
import { FaultyServer } from '../faulty-server/faulty-server.ts';
import { MemoryTransport } from '../faulty-server/memory-wire.ts';
import { cannedTransport } from './canned-transport.ts';
import { makeWorld, Pod, recordEvents, Widget } from './world.ts';

const minutes = (count: number) => count * 60_000;

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of open.splice(0)) await resource[Symbol.asyncDispose]();
});

test.each([true, false])(
  'a time is the text the server sent, however the object came (streamed: %s) (watch failure 9)',
  async (streamLists) => {
    await using world = makeWorld({ streamLists });
    const { server, cache, clock } = world;
    const metadata = { creationTimestamp: '2026-01-01T00:00:00Z' };
    cache.informer(Pod);
    server.put(Pod, { namespace: 'a', name: 'listed', metadata });
    await world.start();
    await clock.runUntil(() => cache.status().every(({ synced }) => synced));
    server.put(Pod, { namespace: 'a', name: 'watched', metadata });
    await clock.advance(1);
    const [listed, watched] = await cache.list(Pod);
    expect(listed!.metadata.creationTimestamp).toBe('2026-01-01T00:00:00Z');
    expect(watched!.metadata.creationTimestamp).toBe('2026-01-01T00:00:00Z');
    // Lists of built-in kinds leave these out of their items.
    expect(listed).toMatchObject({ apiVersion: 'v1', kind: 'Pod' });
    expect(Object.keys(listed!).toSorted()).toEqual(Object.keys(watched!).toSorted());
  },
);

test.each([true, false])(
  'deletions that were missed are noticed at the next load (streamed: %s) (watch failure 10)',
  async (streamLists) => {
    await using world = makeWorld({ streamLists });
    const { server, clock } = world;
    for (let i = 0; i < 5; i += 1) server.put(Widget, { namespace: 'a', name: `w${i}`, spec: { size: i } });
    await world.start();
    const events = recordEvents(world.informer);
    events.length = 0;
    const last: number[] = [];
    world.informer.onEvent((event) => {
      if (event.type === 'deleted') last.push(event.object.spec.size);
    });
    server.always('watch', { type: 'reset' });
    server.resetAll();
    await clock.advance(10);
    server.remove(Widget, 'a/w1');
    server.remove(Widget, 'a/w3');
    server.compact();
    server.always('watch', undefined);
    await clock.advance(minutes(1));
    expect(await world.contents()).toEqual({ 'a/w0': 0, 'a/w2': 2, 'a/w4': 4 });
    expect(events.toSorted()).toEqual(['deleted a/w1 initial tombstone', 'deleted a/w3 initial tombstone']);
    expect(last.toSorted((a, b) => a - b)).toEqual([1, 3]);
  },
);

test('an object that was deleted leaves nothing behind (watch failure 10)', async () => {
  await using world = makeWorld({ parsedObjects: 10 });
  const { server, cache } = world;
  await world.start();
  recordEvents(world.informer);
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  let parsed = await cache.get(Widget, { namespace: 'a', name: 'one' });
  const reference = new WeakRef(parsed!);
  parsed = undefined;
  server.remove(Widget, 'a/one');
  await new Promise((resolve) => setImmediate(resolve));
  globalThis.gc!();
  expect(reference.deref()).toBeUndefined();
});

test('a hundred and thirty thousand objects load and list without a hitch (watch failure 11)', async () => {
  const count = 130_000;
  const items = Array.from(
    { length: count },
    (_, i) =>
      `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w${i}","namespace":"a","resourceVersion":"${i + 1}"}}`,
  );
  const body = Buffer.from(`{"items":[${items.join(',')}],"metadata":{"resourceVersion":"200000"}}`);
  const transport = cannedTransport(({ path }) => (path.includes('watch=true') ? undefined : [body]));
  const cache = createCache({ transport, clock: systemClock, random: seededRandom(1), streamLists: false });
  open.push(cache);
  let told = 0;
  const informer = cache.informer(Widget);
  informer.onEvent(() => {
    told += 1;
  });
  cache.start();
  await cache.synced();
  expect(informer.size).toBe(count);
  expect(await cache.list(Widget)).toHaveLength(count);
  expect(told).toBe(count);
}, 300_000);

test.each([true, false])(
  'the selectors of a scope are in every request (streamed: %s) (watch failure 12)',
  async (streamLists) => {
    await using world = makeWorld({ streamLists });
    const { server, cache, clock } = world;
    const pods = cache.informer(Pod, { labelSelector: { app: 'web' }, namespaces: ['a'] });
    server.put(Pod, { namespace: 'a', name: 'mine', labels: { app: 'web' } });
    server.put(Pod, { namespace: 'a', name: 'foreign', labels: { app: 'db' } });
    server.put(Pod, { namespace: 'b', name: 'elsewhere', labels: { app: 'web' } });
    await world.start();
    await clock.runUntil(() => pods.synced);
    const events: string[] = [];
    pods.onEvent(({ type, key }) => events.push(`${type} ${key.name}`));
    server.put(Pod, { namespace: 'a', name: 'foreign', labels: { app: 'db' }, spec: {} });
    server.put(Pod, { namespace: 'b', name: 'elsewhere', labels: { app: 'web' }, spec: {} });
    server.compact();
    server.resetAll();
    await clock.advance(5_000);
    server.put(Pod, { namespace: 'a', name: 'foreign', labels: { app: 'db' } });
    server.put(Pod, { namespace: 'a', name: 'mine', labels: { app: 'db' } });
    await clock.advance(1);
    const asked = server.requests.filter(({ path }) => path.includes('pods'));
    expect(asked.length).toBeGreaterThan(2);
    for (const { path, query } of asked) {
      expect(path).toBe('/api/v1/namespaces/a/pods');
      expect(query.get('labelSelector')).toBe('app=web');
    }
    // Leaving the selector is a deletion, as far as this cache can know.
    expect(events).toEqual(['added mine', 'deleted mine']);
    expect(pods.size).toBe(0);
  },
);

test('a load of what is known already tells nobody anything (watch failure 13)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  for (let i = 0; i < 3; i += 1) server.put(Widget, { namespace: 'a', name: `w${i}`, spec: { size: i } });
  await world.start();
  const events = recordEvents(world.informer);
  events.length = 0;
  const before = await world.cache.get(Widget, { namespace: 'a', name: 'w0' });
  server.version += 10;
  server.compact();
  server.resetAll();
  await clock.advance(minutes(1));
  expect(server.requestsOf('stream').length).toBeGreaterThan(1);
  expect(events).toEqual([]);
  expect(await world.cache.get(Widget, { namespace: 'a', name: 'w0' })).toBe(before);
  expect(world.status().counts?.unchanged).toBe(3);
});

test('what did change is marked as part of a load, with the old object (watch failure 13)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  await world.start();
  const changes: unknown[] = [];
  world.informer.onEvent(({ type, initial, old, object, oldMeta, meta }) => {
    changes.push([type, initial, old?.spec.size, object.spec.size, oldMeta?.generation, meta.generation]);
  });
  changes.length = 0;
  server.freezeWatches();
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 2 } });
  server.compact();
  await clock.advance(minutes(2));
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 3 } });
  expect(changes).toEqual([
    ['updated', true, 1, 2, 1, 2],
    ['updated', false, 2, 3, 2, 3],
  ]);
});

test('410 on connect loads "not older than" what was seen, and goes on (watch failure 14)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  await world.start();
  server.put(Widget, { namespace: 'a', name: 'two', spec: { size: 2 } });
  const seen = String(server.version);
  server.freezeWatches();
  server.put(Widget, { namespace: 'a', name: 'three', spec: { size: 3 } });
  server.compact();
  await clock.advance(minutes(2));
  const load = server.requests.at(-1)!;
  expect(load.verb).toBe('stream');
  expect(load.query.get('resourceVersion')).toBe(seen);
  expect(load.query.get('resourceVersionMatch')).toBe('NotOlderThan');
  expect(Object.keys(await world.contents())).toEqual(['a/one', 'a/three', 'a/two']);
});

test('410 in the stream does the same (watch failure 14)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  await world.start();
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  server.next('watch', {
    type: 'error-event',
    after: 0,
    code: 410,
    reason: 'Expired',
    message: 'too old resource version',
  });
  server.endWatches();
  await clock.advance(2_000);
  server.put(Widget, { namespace: 'a', name: 'two', spec: { size: 2 } });
  await clock.advance(minutes(1));
  expect(await world.contents()).toEqual({ 'a/one': 1, 'a/two': 2 });
  expect(server.requestsOf('stream')).toHaveLength(2);
  expect(server.openWatches).toBe(1);
});

test('a server that refuses every version is asked ever more slowly, and consistently (watch failure 14)', async () => {
  await using world = makeWorld({ streamLists: false, random: { next: () => 0.999, uuid: () => '' } });
  const { server, clock } = world;
  server.always('watch', { type: 'status', code: 410, reason: 'Expired' });
  world.cache.start();
  await clock.advance(minutes(10));
  const lists = server.requestsOf('list');
  expect(lists.length).toBeLessThan(30);
  expect(lists.slice(1).every(({ query }) => !query.has('resourceVersion'))).toBe(true);
  expect(clock.pending).toBeLessThan(5);
  server.always('watch', undefined);
  await clock.advance(minutes(1));
  expect(server.openWatches).toBe(1);
});

test('quiet kinds keep a fresh version by bookmarks, so a reconnect needs no load (watch failure 14)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  await world.start();
  server.put(Pod, { namespace: 'a', name: 'busy' });
  await clock.advance(minutes(2));
  server.compact();
  server.resetAll();
  await clock.advance(minutes(1));
  expect(server.requestsOf('stream')).toHaveLength(1);
  expect(server.requests.at(-1)!.verb).toBe('watch');
});

test.each([true, false])(
  'a version this server has not seen yet is dropped once, and the answer is kept (streamed: %s) (watch failure 15)',
  async (streamLists) => {
    await using world = makeWorld({ streamLists });
    const { server, clock } = world;
    server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
    await world.start();
    server.put(Widget, { namespace: 'a', name: 'two', spec: { size: 2 } });
    // The next requests reach a server that lags behind, and does not know our version.
    server.freezeWatches();
    server.version -= 1;
    server.compact();
    const before = server.requests.length;
    await clock.advance(minutes(11));
    const asked = server.requests.slice(before);
    const loads = asked.filter(({ verb }) => verb !== 'watch');
    expect(loads).toHaveLength(1);
    expect(loads[0]!.query.get('resourceVersion')).toBeNull();
    expect(await world.contents()).toEqual({ 'a/one': 1, 'a/two': 2 });
    expect(world.status().counts?.restarts['too-large-version']).toBe(1);
    expect(server.openWatches).toBe(1);
  },
);

test('504 to a load from our version is answered at once by a load without one (watch failure 15)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  await world.start();
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  server.next('watch', { type: 'status', code: 410, reason: 'Expired' });
  server.next('stream', {
    type: 'status',
    code: 504,
    reason: 'Timeout',
    message: 'Timeout: Too large resource version: 9, current: 8',
    causes: [{ reason: 'ResourceVersionTooLarge' }],
  });
  await clock.advance(2_000);
  server.endWatches();
  await clock.advance(1);
  expect(server.requests.map(({ verb }) => verb)).toEqual(['stream', 'watch', 'stream', 'stream']);
  expect(server.requests[2]!.query.get('resourceVersion')).not.toBeNull();
  expect(server.requests[3]!.query.get('resourceVersion')).toBeNull();
  expect(await world.contents()).toEqual({ 'a/one': 1 });
});

test('several clusters keep apart what they know (watch failure 15)', async () => {
  await using first = makeWorld();
  const second = new FaultyServer(first.clock);
  second.serve(Widget);
  second.watchList = false;
  const other = createCache({ transport: new MemoryTransport(second), clock: first.clock, random: seededRandom(2) });
  open.push(other);
  other.informer(Widget);
  first.server.put(Widget, { namespace: 'a', name: 'here', spec: { size: 1 } });
  second.put(Widget, { namespace: 'a', name: 'there', spec: { size: 2 } });
  other.start();
  await first.start();
  await first.clock.runUntil(() => other.status().every(({ synced }) => synced));
  expect(Object.keys(await first.contents())).toEqual(['a/here']);
  expect((await other.list(Widget)).map(({ metadata }) => metadata.name)).toEqual(['there']);
  expect(first.server.requestsOf('list')).toHaveLength(0);
});
