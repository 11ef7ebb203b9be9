import { afterEach, expect, test, vi } from 'vitest';

import { seededRandom } from '../../src/random.ts';
import { createCache } from '../../src/cache/create-cache.ts';
import { VirtualClock } from '@slipway/testing/virtual-clock';
import type { TransportRequest } from '../../src/transport.ts';
import { cannedTransport } from './canned-transport.ts';
import { makeCountingClock } from './counting-clock.ts';
import { makeWorld, Pod, recordEvents, Secret, Widget } from './world.ts';

const minutes = (count: number) => count * 60_000;

const open: AsyncDisposable[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const resource of open.splice(0)) await resource[Symbol.asyncDispose]();
});

test('changes of one object are applied in order, before the chunk handler returns (watch failure 22)', async () => {
  const transport = cannedTransport(() => undefined);
  const cache = createCache({ transport, clock: new VirtualClock(), random: seededRandom(1) });
  open.push(cache);
  const informer = cache.informer(Widget);
  const sizes: number[] = [];
  informer.onEvent((async (event: { object: { spec: { size: number } } }) => {
    sizes.push(event.object.spec.size);
    await new Promise((resolve) => setImmediate(resolve));
  }) as never);
  cache.start();
  await new Promise((resolve) => setImmediate(resolve));
  const [handler] = transport.handlers;
  handler!.data(Buffer.from(`${JSON.stringify(endMarker(1))}\n`));
  expect(informer.synced).toBe(true);

  const lines = Buffer.from(
    Array.from(
      { length: 50 },
      (_, i) => `${JSON.stringify(widgetEvent(i === 0 ? 'ADDED' : 'MODIFIED', i + 2, i))}\n`,
    ).join(''),
  );
  for (let at = 0; at < lines.length; at += 100) handler!.data(lines.subarray(at, at + 100));
  expect(sizes).toEqual(Array.from({ length: 50 }, (_, i) => i));
});

test.each(['stream', 'list', 'watch'] as const)(
  '429 on a %s is waited out as asked, and nothing is missed (watch failure 23)',
  async (verb) => {
    await using world = makeWorld({ streamLists: verb !== 'list' });
    const { server, clock } = world;
    server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
    const throttle = { type: 'status', code: 429, reason: 'TooManyRequests', retryAfter: 7 } as const;
    if (verb === 'watch') {
      await world.start();
      await clock.advance(2_000);
      server.next('watch', throttle);
      server.endWatches();
    } else {
      server.next(verb, throttle);
      world.cache.start();
    }
    await clock.advance(10);
    expect(world.status().problem).toContain('asks to wait');
    const before = server.requests.length;
    server.put(Widget, { namespace: 'a', name: 'two', spec: { size: 2 } });
    await clock.advance(6_980);
    expect(server.requests).toHaveLength(before);
    await clock.advance(800);
    expect(server.requests.length).toBeGreaterThan(before);
    expect(await world.contents()).toEqual({ 'a/one': 1, 'a/two': 2 });
    expect(world.status().problem).toBeUndefined();
    expect(world.status().counts?.restarts['throttled']).toBe(1);
  },
);

test('429 inside the stream is waited out, and the watch goes on from the same version (watch failure 23)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  await world.start();
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  const seen = server.version;
  await clock.advance(2_000);
  server.endWatches();
  server.next('watch', { type: 'error-event', after: 0, code: 429, reason: 'TooManyRequests', retryAfter: 3 });
  await clock.advance(1);
  server.put(Widget, { namespace: 'a', name: 'two', spec: { size: 2 } });
  const before = server.requests.length;
  await clock.advance(2_900);
  expect(server.requests).toHaveLength(before);
  await clock.advance(500);
  expect(server.requests.at(-1)!.verb).toBe('watch');
  expect(server.requests.at(-1)!.query.get('resourceVersion')).toBe(String(seen));
  expect(await world.contents()).toEqual({ 'a/one': 1, 'a/two': 2 });
});

test.each([
  ['no time at all', 0, 50, 30_001],
  ['a day', 86_400, 100_000, 133_000],
])(
  'a server that asks for %s is not taken at its word (watch failure 23)',
  async (_, retryAfter, atLeastMs, atMostMs) => {
    await using world = makeWorld();
    const { server, clock } = world;
    server.next('stream', { type: 'status', code: 429, retryAfter });
    world.cache.start();
    await clock.runUntil(() => server.requests.length === 2);
    const waited = server.requests[1]!.at - server.requests[0]!.at;
    expect(waited).toBeGreaterThanOrEqual(atLeastMs);
    expect(waited).toBeLessThanOrEqual(atMostMs);
  },
);

test('503 with Retry-After in the middle of a paged list continues with the same page (watch failure 23)', async () => {
  await using world = makeWorld({ streamLists: false, timings: { pageSize: 2 } });
  const { server, clock } = world;
  for (let i = 0; i < 6; i += 1) server.put(Widget, { namespace: 'a', name: `w${i}`, spec: { size: i } });
  server.next('list', { type: 'pieces', bytes: 7 });
  server.next('list', { type: 'status', code: 503, retryAfter: 2 });
  world.cache.start();
  await clock.advance(5_000);
  expect(world.informer.size).toBe(6);
  const tokens = server.requestsOf('list').map(({ query }) => query.get('continue'));
  expect(tokens).toHaveLength(4);
  expect(tokens[2]).toBe(tokens[1]);
});

test('what is kept per object goes when the object goes (watch failure 24)', async () => {
  await using world = makeWorld();
  const { server, cache, clock } = world;
  cache.informer(Widget, { indices: { size: (widget) => [String(widget.spec.size)] } });
  await world.start();
  recordEvents(world.informer);
  const fill = async (round: number) => {
    for (let i = 0; i < 500; i += 1) {
      const { metadata } = server.put(Widget, { namespace: `n${round}`, name: `w${i}`, spec: { size: i } });
      cache.wrote(Widget, { namespace: metadata.namespace!, name: metadata.name }, metadata);
    }
    expect(await cache.list(Widget, { index: { name: 'size', value: '7' } })).toHaveLength(1);
    for (let i = 0; i < 500; i += 1) {
      server.remove(Widget, `n${round}/w${i}`);
      cache.wrote(Widget, { namespace: `n${round}`, name: `w${i}` }, { uid: 'gone', deleted: true });
    }
    await clock.advance(6_000);
    expect(await cache.list(Widget)).toEqual([]);
    server.compact();
  };
  for (let round = 0; round < 3; round += 1) await fill(round);
  const before = await settledMemory();
  for (let round = 3; round < 13; round += 1) await fill(round);
  // Ten rounds of 500 objects at 1 KB each would be 5 MB if they stayed.
  expect((await settledMemory()) - before).toBeLessThan(2_500_000);
});

test('nothing is turned into text for a log that nobody reads (watch failure 25)', async () => {
  await using world = makeWorld({ log: undefined });
  const { server, transport } = world;
  await world.start();
  recordEvents(world.informer);
  const lines: Buffer[] = [];
  const record = vi.spyOn(transport, 'open');
  for (let i = 0; i < 20; i += 1) lines.push(Buffer.from(`${JSON.stringify(widgetEvent('ADDED', 500 + i, i))}\n`));
  server.endWatches();
  await world.clock.advance(2_000);
  const handler = record.mock.calls[0]![1];
  const stringify = vi.spyOn(JSON, 'stringify');
  for (const line of lines) handler.data(line);
  expect(stringify).not.toHaveBeenCalled();
});

test('a log line carries fields, and never an object (watch failure 25)', async () => {
  const fields: unknown[] = [];
  const log = {
    debug: (_: string, more?: object) => fields.push(more),
    warn: (_: string, more?: object) => fields.push(more),
    error: (_: string, more?: object) => fields.push(more),
  };
  await using world = makeWorld({ log });
  await world.start();
  world.server.resetAll();
  await world.clock.advance(minutes(1));
  expect(fields).toContainEqual({
    kind: 'Widget.v1.example.com',
    namespace: undefined,
    reason: 'connection',
    detail: 'read ECONNRESET',
  });
});

test('a long list is taken apart a few milliseconds at a time (watch failure 26)', async () => {
  const items = Array.from({ length: 400 }, (_, i) => widgetEvent('ADDED', i + 1, i, `w${i}`).object);
  const body = Buffer.from(JSON.stringify({ items, metadata: { resourceVersion: '900' } }));
  const transport = cannedTransport(({ path }) => (path.includes('watch=true') ? undefined : [body]));
  const turns: (() => void)[] = [];
  const clock = makeCountingClock();
  const cache = createCache({
    transport,
    clock,
    random: seededRandom(1),
    streamLists: false,
    yieldToLoop: (callback) => turns.push(callback),
  });
  open.push(cache);
  const informer = cache.informer(Widget);
  let told = 0;
  informer.onEvent(() => {
    told += 1;
  });
  cache.start();
  await new Promise((resolve) => setImmediate(resolve));
  let slices = 0;
  let mostPerSlice = 0;
  while (turns.length > 0) {
    const before = clock.looks;
    const toldBefore = told;
    turns.shift()!();
    slices += 1;
    mostPerSlice = Math.max(mostPerSlice, clock.looks - before, told - toldBefore);
  }
  expect(informer.size).toBe(400);
  expect(told).toBe(400);
  // Every look at the clock is a millisecond here, and a slice has five.
  expect(mostPerSlice).toBeLessThanOrEqual(12);
  expect(slices).toBeGreaterThanOrEqual(130);
});

test('lists come in pages of 500 (watch failure 26)', async () => {
  await using world = makeWorld({ streamLists: false });
  const { server } = world;
  for (let i = 0; i < 1_201; i += 1) server.put(Widget, { namespace: 'a', name: `w${i}`, spec: { size: i } });
  await world.start();
  expect(server.requestsOf('list').map(({ query }) => query.get('limit'))).toEqual(['500', '500', '500']);
  expect(world.informer.size).toBe(1_201);
});

test('a list that loses its place is asked for in one piece (watch failure 26)', async () => {
  await using world = makeWorld({ streamLists: false, timings: { pageSize: 2 } });
  const { server, clock } = world;
  for (let i = 0; i < 5; i += 1) server.put(Widget, { namespace: 'a', name: `w${i}`, spec: { size: i } });
  server.next('list', { type: 'pieces', bytes: 50 });
  server.next('list', { type: 'status', code: 410, reason: 'Expired', message: 'continue parameter is too old' });
  world.cache.start();
  await clock.advance(1_000);
  expect(server.requestsOf('list').map(({ query }) => query.get('limit'))).toEqual(['2', '2', null]);
  expect(world.informer.size).toBe(5);
});

test('a list that is cut short is asked for again (watch failure 26)', async () => {
  await using world = makeWorld({ streamLists: false });
  const { server, clock } = world;
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  server.next('list', { type: 'cut-short' });
  world.cache.start();
  await clock.advance(1);
  expect(world.status().problem).toContain('list of Widget.v1.example.com failed');
  await clock.advance(2_000);
  expect(await world.contents()).toEqual({ 'a/one': 1 });
});

test('a stream whose end marker never comes gives way to pages (watch failure 27)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  server.bookmarks = false;
  server.always('stream', { type: 'no-end-marker' });
  world.cache.start();
  await clock.advance(29_000);
  expect(world.informer.synced).toBe(false);
  await clock.advance(2_000);
  expect(await world.contents()).toEqual({ 'a/one': 1 });
  expect(server.requests.map(({ verb }) => verb)).toEqual(['stream', 'list', 'watch']);
  // And from then on: the next load does not wait for it again.
  server.compact();
  server.version += 1;
  server.compact();
  server.resetAll();
  await clock.advance(minutes(1));
  expect(server.requestsOf('stream')).toHaveLength(1);
  expect(server.openAnswers).toBe(1);
});

test('bookmarks without the annotation are not the end marker (watch failure 27)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  server.next('stream', { type: 'no-end-marker' });
  world.cache.start();
  await clock.advance(10_000);
  server.sendBookmarks();
  await clock.advance(10_000);
  expect(world.informer.synced).toBe(false);
});

test('a stream that is cut off again and again gives way to pages (watch failure 27)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  for (let i = 0; i < 20; i += 1) server.put(Widget, { namespace: 'a', name: `w${i}`, spec: { size: i } });
  server.always('stream', { type: 'reset', after: 10 });
  await world.start();
  expect(server.requests.map(({ verb }) => verb)).toEqual(['stream', 'stream', 'stream', 'list', 'watch']);
  expect(world.informer.size).toBe(20);
  expect(clock.pending).toBeLessThan(6);
});

test('streams that were not finished leave nothing behind (watch failure 27)', async () => {
  await using world = makeWorld({ log: undefined, timings: { streamTries: 1_000 } });
  const { server, clock } = world;
  for (let i = 0; i < 10; i += 1) {
    server.put(Widget, { namespace: 'a', name: `w${i}`, spec: { size: i, note: 'x'.repeat(20_000) } });
  }
  server.always('stream', { type: 'reset', after: 9 });
  world.cache.start();
  await clock.runUntil(() => server.requests.length === 10);
  const before = await settledMemory();
  await clock.runUntil(() => server.requests.length === 310);
  // 300 tries with 180 KB each would be 54 MB if they stayed.
  expect((await settledMemory()) - before).toBeLessThan(10_000_000);
});

test('a slow stream is not a dead one (watch failure 27)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  for (let i = 0; i < 10; i += 1) server.put(Widget, { namespace: 'a', name: `w${i}`, spec: { size: i } });
  server.next('stream', { type: 'drip', bytes: 40, everyMs: 2_000 });
  world.cache.start();
  await clock.runUntil(() => world.informer.synced, minutes(10));
  expect(server.requests).toHaveLength(1);
  expect(world.informer.size).toBe(10);
});

test('a server that cannot stream lists is asked once, for all kinds (watch failure 27)', async () => {
  await using world = makeWorld();
  const { server, cache, clock } = world;
  server.watchList = false;
  await world.start();
  const pods = cache.informer(Pod);
  await clock.runUntil(() => pods.synced);
  expect(server.requests.map(({ verb }) => verb)).toEqual(['stream', 'list', 'watch', 'list', 'watch']);
});

test('one API that cannot stream lists does not speak for the others (watch failure 27)', async () => {
  await using world = makeWorld();
  const { server, cache, clock } = world;
  server.next('stream', { type: 'status', code: 405, reason: 'MethodNotAllowed' });
  await world.start();
  const pods = cache.informer(Pod);
  await clock.runUntil(() => pods.synced);
  expect(server.requests.map(({ verb }) => verb)).toEqual(['stream', 'list', 'watch', 'stream']);
});

test('nothing of a stream counts before its end marker, and its versions never do (watch failure 28)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  for (let i = 0; i < 5; i += 1) server.put(Widget, { namespace: 'a', name: `w${i}`, spec: { size: i } });
  const events = recordEvents(world.informer);
  server.next('stream', { type: 'reset', after: 3 });
  world.cache.start();
  await clock.advance(1);
  expect(world.informer.size).toBe(0);
  expect(events).toEqual([]);
  await clock.advance(5_000);
  expect(server.requests).toHaveLength(2);
  expect(server.requests[1]!.query.get('resourceVersion')).toBeNull();
  expect(world.informer.size).toBe(5);
  // The server sent the newest version first, the oldest last.
  await clock.advance(2_000);
  server.endWatches();
  await clock.advance(1);
  expect(server.requests[2]!.query.get('resourceVersion')).toBe(String(server.version));
});

test('a reload is read as the old set until it is complete (watch failure 28)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  for (let i = 0; i < 4; i += 1) server.put(Widget, { namespace: 'a', name: `w${i}`, spec: { size: i } });
  await world.start();
  server.freezeWatches();
  server.put(Widget, { namespace: 'a', name: 'w0', spec: { size: 100 } });
  server.remove(Widget, 'a/w3');
  server.compact();
  server.next('stream', { type: 'half-open', after: 2 });
  await clock.advance(80_000);
  expect(server.requestsOf('stream')).toHaveLength(2);
  expect(await world.contents()).toEqual({ 'a/w0': 0, 'a/w1': 1, 'a/w2': 2, 'a/w3': 3 });
  await clock.advance(minutes(1));
  expect(await world.contents()).toEqual({ 'a/w0': 100, 'a/w1': 1, 'a/w2': 2 });
});

test('reading a kind nobody declared is an error that says how to declare it (watch failure 30)', async () => {
  await using world = makeWorld();
  await world.start();
  await expect(world.cache.get(Pod, { namespace: 'a', name: 'x' })).rejects.toThrow(
    /Pod\.v1 is not cached: nobody declared it\. Declare it before reading .*cache\.informer\(Pod\)/,
  );
  await expect(world.cache.list(Pod)).rejects.toMatchObject({ code: 'Undeclared' });
  expect(world.server.requests).toHaveLength(1);
});

test.each([true, false])(
  'Secrets are cached as metadata unless asked otherwise (streamed: %s) (watch failure 30)',
  async (streamLists) => {
    await using world = makeWorld({ streamLists });
    const { server, cache, clock } = world;
    const secrets = cache.informer(Secret);
    server.put(Secret, { namespace: 'a', name: 'one', labels: { app: 'x' }, data: { password: 'aHVudGVyMg==' } });
    await world.start();
    await clock.runUntil(() => secrets.synced);
    server.put(Secret, { namespace: 'a', name: 'two', data: { password: 'aHVudGVyMg==' } });
    await clock.advance(1);
    const [one, two] = await cache.list(Secret);
    expect(one).toMatchObject({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one', labels: { app: 'x' } } });
    expect(Object.keys(one!)).toEqual(['apiVersion', 'kind', 'metadata']);
    expect(Object.keys(two!)).toEqual(['apiVersion', 'kind', 'metadata']);
    const accepts = server.requests.filter(({ path }) => path.endsWith('secrets')).map(({ accept }) => accept);
    expect(accepts.every((accept) => accept.startsWith('application/json;as=PartialObjectMetadata'))).toBe(true);
  },
);

test('a server that sends whole Secrets nevertheless cannot make the cache keep them (watch failure 30)', async () => {
  const secret = {
    ...widgetEvent('ADDED', 7, 1).object,
    apiVersion: 'v1',
    kind: 'Secret',
    data: { password: 'hunter2' },
  };
  const lines = [{ type: 'ADDED', object: secret }, endMarker(9)].map((line) => `${JSON.stringify(line)}\n`).join('');
  const transport = cannedTransport(() => undefined);
  const cache = createCache({ transport, clock: new VirtualClock(), random: seededRandom(1) });
  open.push(cache);
  const seen: unknown[] = [];
  cache.informer(Secret).onEvent(({ object }) => seen.push(object));
  cache.start();
  await new Promise((resolve) => setImmediate(resolve));
  transport.handlers[0]!.data(Buffer.from(lines));
  expect(JSON.stringify([seen, await cache.list(Secret)])).not.toContain('hunter2');
  expect(seen).toHaveLength(1);
});

test('whoever needs the data says so (watch failure 30)', async () => {
  await using world = makeWorld();
  const { server, cache, clock } = world;
  const secrets = cache.informer(Secret, { metadataOnly: false });
  server.put(Secret, { namespace: 'a', name: 'one', data: { password: 'aHVudGVyMg==' } });
  await world.start();
  await clock.runUntil(() => secrets.synced);
  expect(await cache.get(Secret, { namespace: 'a', name: 'one' })).toMatchObject({
    data: { password: 'aHVudGVyMg==' },
  });
});

test('at start one page is in memory at a time, stripped, and nothing is parsed (watch failure 31)', async () => {
  const pageSize = 100;
  const pages = 20;
  const managedFields = [{ manager: 'kubectl', fieldsV1: { 'f:spec': { padding: 'x'.repeat(20_000) } } }];
  let inFlight = 0;
  let mostInFlight = 0;
  const answer = ({ path }: TransportRequest): Buffer[] | undefined => {
    if (path.includes('watch=true')) return undefined;
    const page = Number(new URL(path, 'http://x').searchParams.get('continue') ?? 0);
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    const items = Array.from({ length: pageSize }, (_, i) => {
      const { object } = widgetEvent('ADDED', page * pageSize + i + 1, i, `w${page}-${i}`);
      return { ...object, metadata: { ...object.metadata, managedFields } };
    });
    const metadata = { resourceVersion: '9', ...(page + 1 < pages ? { continue: String(page + 1) } : {}) };
    inFlight -= 1;
    return [Buffer.from(JSON.stringify({ items, metadata }))];
  };
  const cache = createCache({
    transport: cannedTransport(answer),
    clock: new VirtualClock(),
    random: seededRandom(1),
    streamLists: false,
  });
  open.push(cache);
  const informer = cache.informer(Widget);
  informer.onEvent(({ key }) => void key);
  const before = await settledMemory();
  cache.start();
  await cache.synced();
  const after = await settledMemory();
  expect(informer.size).toBe(pageSize * pages);
  expect(mostInFlight).toBe(1);
  expect(cache.status()[0]!.counts).toMatchObject({ events: 2_000, parses: 0 });
  // 2 000 objects came as 40 MB; what is left of them is a few hundred bytes each.
  expect(after - before).toBeLessThan(10_000_000);
  const [first] = await cache.list(Widget);
  expect(first!.metadata).not.toHaveProperty('managedFields');
});

test('a kind the cluster does not serve is named, and loads by itself when its CRD comes (watch failure 32)', async () => {
  await using world = makeWorld();
  const { server, clock } = world;
  server.unserve(Widget);
  world.cache.start();
  const synced = world.cache.synced();
  await clock.advance(minutes(10));
  expect(world.status()).toMatchObject({ synced: false });
  expect(world.status().problem).toBe(
    'Widget.v1.example.com is not served by the cluster (404: the server could not find the requested resource). ' +
      'Install its CustomResourceDefinition; the cache keeps trying.',
  );
  server.serve(Widget);
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  await clock.advance(31_000);
  await synced;
  expect(await world.contents()).toEqual({ 'a/one': 1 });
  expect(world.status().problem).toBeUndefined();
});

test('a missing permission is named with what to grant, and heals by itself (watch failure 32)', async () => {
  await using world = makeWorld();
  const { server, cache, clock } = world;
  const message = 'widgets.example.com is forbidden: User "system:serviceaccount:x:y" cannot watch resource "widgets"';
  server.always('stream', { type: 'status', code: 403, reason: 'Forbidden', message });
  cache.start();
  await clock.advance(minutes(1));
  expect(world.status().problem).toBe(
    `not allowed to watch Widget.v1.example.com (403: ${message}). Grant get, list and watch on widgets.example.com; the cache keeps trying.`,
  );
  server.always('stream', undefined);
  await clock.advance(31_000);
  expect(world.informer.synced).toBe(true);
  expect(world.status().problem).toBeUndefined();
});

test('one kind that cannot be loaded does not hold up the others, and a read of it fails with the reason (watch failure 32)', async () => {
  await using world = makeWorld();
  const { server, cache, clock } = world;
  server.unserve(Pod);
  cache.informer(Pod);
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  await world.start();
  expect(await world.contents()).toEqual({ 'a/one': 1 });
  const read = cache.get(Pod, { namespace: 'a', name: 'x' });
  const outcome = read.then(String, String);
  await clock.advance(31_000);
  expect(await outcome).toMatch(/Pod\.v1 is not loaded after 30 s: Pod\.v1 is not served by the cluster \(404/);
});

/** Bytes in use on and off the heap, after the collector has had its chance. */
async function settledMemory(): Promise<number> {
  for (let turn = 0; turn < 3; turn += 1) {
    globalThis.gc!();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function widgetEvent(type: string, version: number, size: number, name = 'one') {
  return {
    type,
    object: {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name, namespace: 'a', resourceVersion: String(version), uid: `uid-${name}` },
      spec: { size },
    },
  };
}

function endMarker(version: number) {
  return {
    type: 'BOOKMARK',
    object: {
      kind: 'Widget',
      apiVersion: 'example.com/v1',
      metadata: { resourceVersion: String(version), annotations: { 'k8s.io/initial-events-end': 'true' } },
    },
  };
}
