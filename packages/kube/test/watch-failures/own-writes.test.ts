import { expect, test } from 'vitest';

import { makeWorld, recordEvents, Widget } from './world.ts';

const one = { namespace: 'a', name: 'one' };

/** A world whose watch lags: what the server stores arrives when `catchUp` is called. */
async function makeLaggingWorld() {
  const world = makeWorld();
  const { server, clock, transport } = world;
  server.put(Widget, { ...one, spec: { size: 1 } });
  await world.start();
  const held: (() => void)[] = [];
  const open = transport.open.bind(transport);
  transport.open = (request, handler) =>
    open(request, { ...handler, data: (chunk) => held.push(() => handler.data(chunk)) });
  server.endWatches();
  await clock.advance(2_000);
  return {
    ...world,
    /** Delivers all that is held back, or so many chunks of it. */
    catchUp(chunks = held.length) {
      for (const deliver of held.splice(0, chunks)) deliver();
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** Whether a promise is settled once everything that waits on nothing has run. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const marker = Symbol('pending');
  const turn = new Promise((resolve) => setImmediate(() => resolve(marker)));
  return (await Promise.race([promise, turn])) === marker;
}

test('a read after an update waits until the cache has it (watch failure 29)', async () => {
  await using world = await makeLaggingWorld();
  const { server, cache } = world;
  const { metadata } = server.put(Widget, { ...one, spec: { size: 2 } });
  cache.wrote(Widget, one, metadata);
  const read = cache.get(Widget, one);
  expect(await isPending(read)).toBe(true);
  world.catchUp();
  expect((await read)?.spec.size).toBe(2);
});

test('a read after a creation waits until the cache has it (watch failure 29)', async () => {
  await using world = await makeLaggingWorld();
  const { server, cache } = world;
  const two = { namespace: 'a', name: 'two' };
  const { metadata } = server.put(Widget, { ...two, spec: { size: 2 } });
  cache.wrote(Widget, two, metadata);
  const read = cache.get(Widget, two);
  expect(await isPending(read)).toBe(true);
  world.catchUp();
  expect((await read)?.spec.size).toBe(2);
});

test('a read after a deletion does not show the object any more (watch failure 29)', async () => {
  await using world = await makeLaggingWorld();
  const { server, cache } = world;
  const { uid } = server.objects(Widget).get('a/one')!.metadata;
  server.remove(Widget, 'a/one');
  cache.wrote(Widget, one, { uid, deleted: true });
  const read = cache.get(Widget, one);
  expect(await isPending(read)).toBe(true);
  world.catchUp();
  expect(await read).toBeUndefined();
});

test('a deletion of an object that was created a moment ago covers its late arrival (watch failure 29)', async () => {
  await using world = await makeLaggingWorld();
  const { server, cache } = world;
  const two = { namespace: 'a', name: 'two' };
  const { uid } = server.put(Widget, { ...two, spec: { size: 2 } }).metadata;
  server.remove(Widget, 'a/two');
  cache.wrote(Widget, two, { uid, deleted: true });
  expect(await cache.get(Widget, two)).toBeUndefined();
  world.catchUp(1);
  expect(world.informer.size).toBe(2);
  const read = cache.get(Widget, two);
  expect(await isPending(read)).toBe(true);
  world.catchUp();
  expect(await read).toBeUndefined();
});

test('a successor of the same name is not taken for the deleted object (watch failure 29)', async () => {
  await using world = await makeLaggingWorld();
  const { server, cache } = world;
  const { uid } = server.objects(Widget).get('a/one')!.metadata;
  server.remove(Widget, 'a/one');
  cache.wrote(Widget, one, { uid, deleted: true });
  const next = server.put(Widget, { ...one, spec: { size: 7 } });
  world.catchUp();
  expect((await cache.get(Widget, one))?.metadata.uid).toBe(next.metadata.uid);
});

test('a list waits for all writes of its kind (watch failure 29)', async () => {
  await using world = await makeLaggingWorld();
  const { server, cache } = world;
  for (const name of ['two', 'three']) {
    const { metadata } = server.put(Widget, { namespace: 'a', name, spec: { size: 1 } });
    cache.wrote(Widget, { namespace: 'a', name }, metadata);
  }
  const list = cache.list(Widget, { namespace: 'a' });
  expect(await isPending(list)).toBe(true);
  world.catchUp();
  expect(await list).toHaveLength(3);
});

test('reads of other objects do not wait (watch failure 29)', async () => {
  await using world = await makeLaggingWorld();
  const { server, cache } = world;
  const two = { namespace: 'a', name: 'two' };
  cache.wrote(Widget, two, server.put(Widget, { ...two, spec: { size: 2 } }).metadata);
  expect((await cache.get(Widget, one))?.spec.size).toBe(1);
});

test('the wait is bounded, and the timeout is told (watch failure 29)', async () => {
  await using world = await makeLaggingWorld();
  const { server, cache, clock } = world;
  cache.wrote(Widget, one, server.put(Widget, { ...one, spec: { size: 2 } }).metadata);
  await clock.advance(2_000);
  const read = cache.get(Widget, one);
  await clock.advance(2_900);
  expect(await isPending(read)).toBe(true);
  await clock.advance(200);
  expect((await read)?.spec.size).toBe(1);
  expect(world.status().counts?.ownWriteTimeouts).toBe(1);
  expect(world.warnings.join()).toContain('did not show up in the cache in time');
  // The next read does not wait for it again.
  expect((await cache.get(Widget, one))?.spec.size).toBe(1);
});

test('a write that is followed by somebody else’s is seen with theirs (watch failure 29)', async () => {
  await using world = await makeLaggingWorld();
  const { server, cache } = world;
  cache.wrote(Widget, one, server.put(Widget, { ...one, spec: { size: 2 } }).metadata);
  server.put(Widget, { ...one, spec: { size: 3 } });
  const read = cache.get(Widget, one);
  world.catchUp();
  expect((await read)?.spec.size).toBe(3);
});

test('a write that somebody undid by deleting the object is seen too (watch failure 29)', async () => {
  await using world = await makeLaggingWorld();
  const { server, cache } = world;
  cache.wrote(Widget, one, server.put(Widget, { ...one, spec: { size: 2 } }).metadata);
  server.remove(Widget, 'a/one');
  const read = cache.get(Widget, one);
  expect(await isPending(read)).toBe(true);
  world.catchUp();
  expect(await read).toBeUndefined();
});

test('a write to an object outside the scope is settled by a bookmark (watch failure 29)', async () => {
  await using world = makeWorld();
  const { server, cache, clock } = world;
  await world.start();
  server.version += 1;
  cache.wrote(Widget, one, { resourceVersion: String(server.version) });
  const read = cache.get(Widget, one);
  expect(await isPending(read)).toBe(true);
  server.sendBookmarks();
  await clock.advance(0);
  expect(await isPending(read)).toBe(false);
  expect(world.status().counts?.ownWriteTimeouts).toBe(0);
});

test('who does not want to wait does not (watch failure 29)', async () => {
  await using world = makeWorld({ ownWriteWaitMs: 0 });
  await world.start();
  world.cache.wrote(Widget, one, { resourceVersion: '999999' });
  expect(await world.cache.get(Widget, one)).toBeUndefined();
  expect(world.status().counts?.ownWriteTimeouts).toBe(0);
});

test('a write the cache has seen already costs nothing (watch failure 29)', async () => {
  await using world = makeWorld();
  const { server, cache } = world;
  await world.start();
  const events = recordEvents(world.informer);
  const { metadata } = server.put(Widget, { ...one, spec: { size: 1 } });
  cache.wrote(Widget, one, metadata);
  expect((await cache.get(Widget, one))?.spec.size).toBe(1);
  expect(events).toEqual(['added a/one']);
});
