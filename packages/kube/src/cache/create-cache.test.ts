import { describe, expect, test } from 'vitest';

import { makeWorld, Pod, recordEvents, Secret, Widget } from '../../test/watch-failures/world.ts';
import type { Kind } from '../kind.ts';
import { CacheError } from './cache-error.ts';

const Node: Kind = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', scope: 'Cluster', apiVersion: 'v1' };

describe('reading', () => {
  test('loads, follows and lists what the server has, in key order', async () => {
    await using world = makeWorld();
    const { server, cache } = world;
    server.put(Widget, { namespace: 'b', name: 'two', spec: { size: 2 } });
    server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
    await world.start();
    const events = recordEvents(world.informer);
    expect(Object.entries(await world.contents())).toEqual([
      ['a/one', 1],
      ['b/two', 2],
    ]);
    server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 11 } });
    server.put(Widget, { namespace: 'aa', name: 'three', spec: { size: 3 } });
    server.remove(Widget, 'b/two');
    expect(Object.entries(await world.contents())).toEqual([
      ['a/one', 11],
      ['aa/three', 3],
    ]);
    expect(events.slice(0, 2).toSorted()).toEqual(['added a/one initial', 'added b/two initial']);
    expect(events.slice(2)).toEqual(['updated a/one', 'added aa/three', 'deleted b/two']);
    expect((await cache.get(Widget, { namespace: 'a', name: 'one' }))?.spec.size).toBe(11);
    expect(await cache.get(Widget, { namespace: 'b', name: 'two' })).toBeUndefined();
  });

  test('an object is parsed when it is first read, shared from then on, and forgotten when it changes', async () => {
    await using world = makeWorld();
    const { server, cache } = world;
    const key = { namespace: 'a', name: 'one' };
    server.put(Widget, { ...key, spec: { size: 1 } });
    server.put(Widget, { namespace: 'a', name: 'two', spec: { size: 2 } });
    await world.start();
    world.informer.onEvent(({ meta, key: { name } }) => void [meta.labels, name]);
    expect(world.status().counts?.parses).toBe(0);
    const first = await cache.get(Widget, key);
    expect(await cache.get(Widget, key)).toBe(first);
    expect(world.status().counts?.parses).toBe(1);
    server.put(Widget, { ...key, spec: { size: 3 } });
    expect(first!.spec.size).toBe(1);
    expect((await cache.get(Widget, key))!.spec.size).toBe(3);
    expect(world.status().counts?.parses).toBe(2);
  });

  test('what is remembered in parsed form is limited', async () => {
    await using world = makeWorld({ parsedObjects: 10 });
    const { server, cache } = world;
    for (let i = 0; i < 100; i += 1) server.put(Widget, { namespace: 'a', name: `w${i}`, spec: { size: i } });
    await world.start();
    let object = await cache.get(Widget, { namespace: 'a', name: 'w0' });
    const reference = new WeakRef(object!);
    object = undefined;
    for (let i = 1; i < 100; i += 1) await cache.get(Widget, { namespace: 'a', name: `w${i}` });
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc!();
    expect(reference.deref()).toBeUndefined();
    expect((await cache.get(Widget, { namespace: 'a', name: 'w0' }))?.spec.size).toBe(0);
  });

  test('lists by namespace, by labels and by both', async () => {
    await using world = makeWorld();
    const { server, cache } = world;
    server.put(Widget, { namespace: 'a', name: 'web', labels: { app: 'web', tier: 'x' }, spec: { size: 1 } });
    server.put(Widget, { namespace: 'a', name: 'db', labels: { app: 'db' }, spec: { size: 2 } });
    server.put(Widget, { namespace: 'b', name: 'web', labels: { app: 'web' }, spec: { size: 3 } });
    server.put(Widget, { namespace: 'b', name: 'none', spec: { size: 4 } });
    await world.start();
    const sizes = async (query: object) => (await cache.list(Widget, query)).map(({ spec }) => spec.size);
    expect(await sizes({ namespace: 'a' })).toEqual([2, 1]);
    expect(await sizes({ labelSelector: { app: 'web' } })).toEqual([1, 3]);
    expect(await sizes({ labelSelector: 'app in (web,db),tier!=x' })).toEqual([2, 3]);
    expect(await sizes({ labelSelector: '!app' })).toEqual([4]);
    expect(await sizes({ namespace: 'b', labelSelector: 'app=web' })).toEqual([3]);
    expect(await sizes({ namespace: 'nowhere' })).toEqual([]);
    server.put(Widget, { namespace: 'a', name: 'new', labels: { app: 'web' }, spec: { size: 5 } });
    server.remove(Widget, 'a/db');
    expect(await sizes({ namespace: 'a' })).toEqual([5, 1]);
    await expect(cache.list(Widget, { labelSelector: 'app in' })).rejects.toThrow('label selector "app in"');
  });

  test('cluster-scoped kinds have keys without a namespace', async () => {
    await using world = makeWorld();
    const { server, cache, clock } = world;
    server.serve(Node);
    server.put(Node, { name: 'n1', spec: {} });
    const nodes = cache.informer(Node);
    await world.start();
    await clock.runUntil(() => nodes.synced);
    expect((await cache.get(Node, { name: 'n1' }))?.metadata.name).toBe('n1');
    await expect(cache.get(Node, { namespace: 'a', name: 'n1' })).rejects.toThrow('must have no namespace');
    await expect(cache.get(Widget, { name: 'x' })).rejects.toThrow(
      'Widget.v1.example.com x: the key needs a namespace',
    );
  });

  test('what is handed out can be frozen, to find code that changes it', async () => {
    await using world = makeWorld({ freeze: true });
    world.server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
    await world.start();
    const widget = (await world.cache.get(Widget, { namespace: 'a', name: 'one' })) as { spec: { size: number } };
    expect(() => {
      widget.spec.size = 2;
    }).toThrow(TypeError);
  });

  test('a read before start says so, and a read after stop too', async () => {
    const world = makeWorld();
    const key = { namespace: 'a', name: 'x' };
    await expect(world.cache.get(Widget, key)).rejects.toMatchObject({ code: 'NotStarted' });
    const synced = world.cache.synced();
    const outcome = synced.then(String, (error: CacheError) => error.code);
    await world.start();
    await world.cache.stop();
    await world.cache.stop();
    expect(await outcome).toBe('undefined');
    await expect(world.cache.get(Widget, key)).rejects.toMatchObject({ code: 'Stopped' });
    expect(() => world.cache.informer(Pod)).toThrow('has been stopped');
    expect(world.server.openAnswers).toBe(0);
    expect(world.clock.pending).toBe(0);
  });

  test('a kind that is forgotten is watched no more, and can be declared anew', async () => {
    await using world = makeWorld();
    const { server, cache, clock } = world;
    server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
    await world.start();
    const events = recordEvents(cache.informer(Widget));
    cache.forget(Widget);
    expect(cache.status().map(({ kind }) => kind)).not.toContain(Widget);
    await expect(cache.get(Widget, { namespace: 'a', name: 'one' })).rejects.toMatchObject({ code: 'Undeclared' });
    server.put(Widget, { namespace: 'a', name: 'two', spec: { size: 2 } });
    const again = cache.informer(Widget);
    await clock.runUntil(() => again.synced);
    expect((await cache.get(Widget, { namespace: 'a', name: 'two' }))?.spec.size).toBe(2);
    expect(events).toEqual(['added a/one initial']);
  });

  test('whoever waits for a cache that is stopped is told', async () => {
    const world = makeWorld();
    world.server.unserve(Widget);
    world.cache.start();
    const outcome = world.cache.synced().then(String, (error: CacheError) => error.code);
    await world.clock.advance(1_000);
    await world.cache.stop();
    expect(await outcome).toBe('Stopped');
  });

  test('waiting can be given up', async () => {
    await using world = makeWorld();
    world.server.unserve(Widget);
    world.cache.start();
    const controller = new AbortController();
    const outcome = world.cache.synced(controller.signal).then(String, String);
    controller.abort(new Error('enough'));
    expect(await outcome).toBe('Error: enough');
  });
});

describe('scope', () => {
  test('several namespaces are several watches, and other namespaces are an error', async () => {
    await using world = makeWorld();
    const { server, cache, clock } = world;
    const pods = cache.informer(Pod, { namespaces: ['b', 'a'] });
    for (const namespace of ['a', 'b', 'c']) server.put(Pod, { namespace, name: 'pod' });
    await world.start();
    await clock.runUntil(() => pods.synced);
    server.put(Pod, { namespace: 'b', name: 'second' });
    server.put(Pod, { namespace: 'c', name: 'second' });
    await clock.advance(0);
    expect((await cache.list(Pod)).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      'a/pod',
      'b/pod',
      'b/second',
    ]);
    await expect(cache.get(Pod, { namespace: 'c', name: 'pod' })).rejects.toThrow(
      'Pod.v1 is cached only for namespaces a, b, not for c.',
    );
    await expect(cache.list(Pod, { namespace: 'c' })).rejects.toMatchObject({ code: 'OutOfScope' });
    const paths = server.requests.map(({ path }) => path).filter((path) => path.includes('pods'));
    expect(paths).toEqual(['/api/v1/namespaces/a/pods', '/api/v1/namespaces/b/pods']);
  });

  test('a namespace that cannot be read does not hide the others', async () => {
    await using world = makeWorld();
    const { server, cache, clock } = world;
    await world.start();
    server.put(Pod, { namespace: 'b', name: 'pod' });
    server.next('stream', { type: 'status', code: 500, message: 'etcd is away' });
    const pods = cache.informer(Pod, { namespaces: ['a', 'b'] });
    await clock.advance(10);
    expect(pods.synced).toBe(false);
    expect(pods.size).toBe(1);
    expect(cache.status().find(({ kind }) => kind.kind === 'Pod')!.problem).toBe(
      'watch of Pod.v1 in namespace a failed (500: etcd is away); the cache keeps trying.',
    );
    await clock.advance(60_000);
    expect(await cache.list(Pod)).toHaveLength(1);
  });

  test('a watch that fails is told once for each sort of failure, and once when it works again', async () => {
    const told: (string | undefined)[] = [];
    await using world = makeWorld({ metrics: { problemChanged: (_kind, problem) => told.push(problem) } });
    for (const [code, message] of [
      [500, 'etcd is away'],
      [500, 'etcd is away'],
      [403, 'not you'],
    ] as const)
      world.server.next('stream', { type: 'status', code, message });
    await world.start();
    await world.clock.advance(60_000);
    expect(told).toEqual([expect.stringContaining('etcd is away'), expect.stringContaining('not you'), undefined]);
  });

  test('managedFields and the last-applied annotation are cut unless they are asked for', async () => {
    await using world = makeWorld();
    const { server, cache, clock } = world;
    const metadata = {
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', keep: 'me' },
      managedFields: [{ manager: 'kubectl' }],
    };
    server.put(Widget, { namespace: 'a', name: 'x', metadata, spec: { size: 1 } });
    server.put(Pod, { namespace: 'a', name: 'x', metadata });
    const pods = cache.informer(Pod, { stripManagedFields: false });
    await world.start();
    await clock.runUntil(() => pods.synced);
    const widget = await cache.get(Widget, { namespace: 'a', name: 'x' });
    expect(widget!.metadata.annotations).toEqual({ keep: 'me' });
    expect(widget!.metadata.managedFields).toBeUndefined();
    expect((await cache.get(Pod, { namespace: 'a', name: 'x' }))!.metadata).toMatchObject(metadata);
  });

  test('only the fields asked for are kept', async () => {
    await using world = makeWorld({ streamLists: false });
    const { server, cache, clock } = world;
    const pods = cache.informer(Pod, { fields: ['status'] });
    server.put(Pod, { namespace: 'a', name: 'x', spec: { containers: [] }, status: { phase: 'Running' } });
    await world.start();
    await clock.runUntil(() => pods.synced);
    const pod = await cache.get(Pod, { namespace: 'a', name: 'x' });
    expect(pod).toMatchObject({ apiVersion: 'v1', kind: 'Pod', status: { phase: 'Running' } });
    expect(pod).not.toHaveProperty('spec');
  });

  test('a second declaration takes what the first one says, and may add what it left open before the start', async () => {
    await using world = makeWorld();
    const { cache } = world;
    expect(cache.informer(Widget)).toBe(world.informer);
    cache.informer(Secret);
    cache.informer(Secret, { metadataOnly: false });
    cache.informer(Pod, { labelSelector: { b: '2', a: '1' } });
    expect(cache.informer(Pod, { labelSelector: 'a=1,b=2' })).toBe(cache.informer(Pod));
    expect(() => cache.informer(Pod, { labelSelector: 'a=2' })).toThrow(
      'Pod.v1 is already cached with labelSelector "a=1,b=2", and cannot be cached with labelSelector "a=2" too.',
    );
    await world.start();
    expect(world.server.requests.find(({ path }) => path.endsWith('secrets'))!.accept).toBe('application/json');
    expect(() => cache.informer(Widget, { namespaces: ['a'] })).toThrow(CacheError);
    expect(cache.informer(Widget, { metadataOnly: false })).toBe(world.informer);
  });

  test.each([
    [{ labelSelector: 'a b' }, 'scope of Widget.v1.example.com: label selector "a b"'],
    [{ fieldSelector: 'metadata.name' }, 'scope of Widget.v1.example.com: field selector'],
    [{ namespaces: [] }, 'scope of Widget.v1.example.com: namespaces is empty'],
    [{ namespaces: ['a/b'] }, 'namespace "a/b" is not the name of an object'],
  ])('a scope that makes no sense is refused at once: %j', async (scope, message) => {
    await using world = makeWorld();
    expect(() => world.cache.informer(Widget, scope)).toThrow(message);
  });

  test('namespaces of a cluster-scoped kind make no sense', async () => {
    await using world = makeWorld();
    expect(() => world.cache.informer(Node, { namespaces: ['a'] })).toThrow('Node.v1: namespaces were given');
  });
});

describe('indices', () => {
  test('find objects by values computed from them, and follow changes, reloads and deletions', async () => {
    await using world = makeWorld();
    const { server, cache, clock } = world;
    cache.informer(Widget, {
      indices: {
        size: ({ spec }) => [String(spec.size)],
        team: { fromMeta: ({ labels }) => (labels?.['team'] ? [labels['team']] : []) },
      },
    });
    const find = async (name: string, value: string, namespace?: string) =>
      (await cache.list(Widget, { index: { name, value }, ...(namespace ? { namespace } : {}) })).map(
        ({ metadata }) => metadata.name,
      );
    for (let i = 0; i < 6; i += 1) {
      const labels = { team: i % 2 ? 'odd' : 'even' };
      server.put(Widget, { namespace: i < 3 ? 'a' : 'b', name: `w${i}`, labels, spec: { size: i % 3 } });
    }
    await world.start();
    expect(world.status().counts?.parses).toBe(0);
    expect(await find('size', '1')).toEqual(['w1', 'w4']);
    expect(await find('size', '1', 'b')).toEqual(['w4']);
    expect(await find('team', 'odd')).toEqual(['w1', 'w3', 'w5']);
    server.put(Widget, { namespace: 'a', name: 'w1', labels: { team: 'even' }, spec: { size: 2 } });
    server.remove(Widget, 'b/w4');
    expect(await find('size', '1')).toEqual([]);
    expect(await find('size', '2')).toEqual(['w1', 'w2', 'w5']);
    expect(await find('team', 'even')).toEqual(['w0', 'w1', 'w2']);
    server.freezeWatches();
    server.put(Widget, { namespace: 'b', name: 'w9', spec: { size: 1 } });
    server.compact();
    await clock.advance(120_000);
    expect(await find('size', '1')).toEqual(['w9']);
    expect(await find('size', '9')).toEqual([]);
  });

  test('an index may be added while the cache runs; one that throws is counted and finds nothing', async () => {
    await using world = makeWorld();
    const { server, cache } = world;
    server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 1 } });
    await world.start();
    cache.informer(Widget, {
      indices: {
        late: () => ['x'],
        broken: () => {
          throw new Error('index is broken');
        },
      },
    });
    expect(await cache.list(Widget, { index: { name: 'late', value: 'x' } })).toHaveLength(1);
    expect(await cache.list(Widget, { index: { name: 'broken', value: 'x' } })).toEqual([]);
    expect(world.status().counts?.handlerErrors).toBe(1);
    expect(() => cache.informer(Widget, { indices: { late: () => ['y'] } })).toThrow('already has an index "late"');
  });

  test('an index nobody declared is an error that says how to declare it', async () => {
    await using world = makeWorld();
    await world.start();
    await expect(world.cache.list(Widget, { index: { name: 'owner', value: 'x' } })).rejects.toThrow(
      'Widget.v1.example.com has no index "owner" (it has none). Declare it: cache.informer(Widget, { indices: { "owner"',
    );
  });
});

describe('handlers', () => {
  test('a late handler hears of what is there, then of changes, each once', async () => {
    const turns: (() => void)[] = [];
    let now = 0;
    const tick = () => (now += 1);
    const clock = { now: tick, monotonic: tick, schedule: () => ({ cancel: () => {} }) };
    // Every look at this clock is a millisecond, so five events are a slice, and slices wait in `turns`.
    await using world = makeWorld({ clock, yieldToLoop: (turn) => turns.push(turn) });
    for (let i = 0; i < 20; i += 1) world.server.put(Widget, { namespace: 'a', name: `w${i}`, spec: { size: i } });
    const early = recordEvents(world.informer);
    world.cache.start();
    await new Promise((resolve) => setImmediate(resolve));
    expect(early.length).toBeLessThan(20);
    const late = recordEvents(world.informer);
    world.server.put(Widget, { namespace: 'a', name: 'new', spec: { size: 1 } });
    while (turns.length > 0) turns.shift()!();
    const all = [...Array.from({ length: 20 }, (_, i) => `added a/w${i} initial`), 'added a/new'].toSorted();
    expect(early.toSorted()).toEqual(all);
    expect(late.toSorted()).toEqual(all);
    expect(late.at(-1)).toBe('added a/new');
  });

  test('a handler that was removed hears nothing more, even within a run', async () => {
    await using world = makeWorld();
    await world.start();
    const heard: string[] = [];
    const remove = world.informer.onEvent(({ key }) => {
      heard.push(key.name);
      remove();
    });
    for (const name of ['one', 'two']) world.server.put(Widget, { namespace: 'a', name, spec: { size: 1 } });
    expect(heard).toEqual(['one']);
  });

  test('the final state of a deleted object comes with its deletion', async () => {
    await using world = makeWorld();
    const { server } = world;
    server.put(Widget, { namespace: 'a', name: 'one', labels: { app: 'x' }, spec: { size: 1 } });
    await world.start();
    const heard: unknown[] = [];
    world.informer.onEvent(({ type, object, meta, tombstone }) => {
      if (type === 'deleted') heard.push([object.spec.size, meta.labels, tombstone]);
    });
    server.remove(Widget, 'a/one');
    expect(heard).toEqual([[1, { app: 'x' }, false]]);
  });

  test('an event that is kept can still be read when its objects are long gone', async () => {
    await using world = makeWorld();
    const { server } = world;
    server.put(Widget, { namespace: 'a', name: 'one', spec: { size: 0 } });
    await world.start();
    const kept: { size: () => number; old: () => number | undefined }[] = [];
    world.informer.onEvent((event) => {
      if (!event.initial) kept.push({ size: () => event.object.spec.size, old: () => event.old?.spec.size });
    });
    const note = 'x'.repeat(50_000);
    for (let i = 1; i <= 100; i += 1) server.put(Widget, { namespace: 'a', name: 'one', spec: { size: i, note } });
    expect(kept.map(({ size, old }) => [size(), old()])).toEqual(Array.from({ length: 100 }, (_, i) => [i + 1, i]));
  });
});
