import { expect, test } from 'vitest';

import { makeWorld, recordEvents, Widget } from '../../test/rows/world.ts';

test('loads, follows and lists what the server has', async () => {
  await using world = makeWorld();
  const { server, cache } = world;
  server.put(Widget, { namespace: 'b', name: 'two', spec: { size: 2 } });
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
  await world.start();
  const events = recordEvents(world.informer);
  expect(await world.contents()).toEqual({ 'a/one': 1, 'b/two': 2 });
  server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 11 } });
  server.put(Widget, { namespace: 'c', name: 'three', spec: { size: 3 } });
  server.remove(Widget, 'b/two');
  expect(await world.contents()).toEqual({ 'a/one': 11, 'c/three': 3 });
  expect(events).toEqual(
    ['added b/two initial', 'added a/one initial', 'updated a/one', 'added c/three', 'deleted b/two'].toSorted(
      (a, b) => events.indexOf(a) - events.indexOf(b),
    ),
  );
  expect((await cache.get(Widget, { namespace: 'a', name: 'one' }))?.spec.size).toBe(11);
});
