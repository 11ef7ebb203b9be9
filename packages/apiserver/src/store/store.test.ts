import { expect, test } from 'vitest';
import { VirtualClock } from '../virtual-clock.ts';
import type { ApiObject } from '../object.ts';
import { StorageError } from './storage-error.ts';
import { memoryStorage } from './storage.ts';
import { RevisionCompacted, Store, type Change } from './store.ts';

const object = (name: string, data = ''): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { value: data },
});

function names(entries: { key: string }[]): string[] {
  return entries.map(({ key }) => key);
}

test('one counter for all kinds, and the deleting revision on what was deleted', () => {
  const store = new Store({ clock: new VirtualClock() });
  expect(store.put('configmaps', 'n/a', object('a')).revision).toBe(1);
  expect(store.put('secrets', 'n/a', object('a')).revision).toBe(2);
  const gone = store.delete('configmaps', 'n/a')!;
  expect(gone.revision).toBe(3);
  expect(gone.object.metadata.resourceVersion).toBe('3');
  expect(store.get('configmaps', 'n/a')).toBeUndefined();
  expect(store.delete('configmaps', 'n/a')).toBeUndefined();
  expect(store.revision).toBe(3);
});

test('lists in key order, by namespace', () => {
  const store = new Store({ clock: new VirtualClock() });
  for (const key of ['b/z', 'a-b/x', 'a/y', 'a/b', 'b/a']) store.put('configmaps', key, object(key));
  // As in etcd, where "-" sorts before "/".
  expect(names(store.list('configmaps'))).toEqual(['a-b/x', 'a/b', 'a/y', 'b/a', 'b/z']);
  expect(names(store.list('configmaps', 'a'))).toEqual(['a/b', 'a/y']);
  expect(names(store.list('configmaps', 'nope'))).toEqual([]);
});

test('the past can be listed until it is compacted', () => {
  const store = new Store({ clock: new VirtualClock() });
  store.put('configmaps', 'n/a', object('a', 'old'));
  store.put('configmaps', 'n/b', object('b'));
  store.put('configmaps', 'n/a', object('a', 'new'));
  store.delete('configmaps', 'n/b');
  expect(names(store.listAt('configmaps', 'n', 1))).toEqual(['n/a']);
  expect(names(store.listAt('configmaps', 'n', 2))).toEqual(['n/a', 'n/b']);
  expect(store.listAt('configmaps', 'n', 2)[0]!.object['data']).toEqual({ value: 'old' });
  expect(store.listAt('configmaps', 'n', 3)[0]!.object['data']).toEqual({ value: 'new' });
  store.compact(3);
  expect(() => store.listAt('configmaps', 'n', 2)).toThrow(RevisionCompacted);
  expect(names(store.listAt('configmaps', 'n', 3))).toEqual(['n/a', 'n/b']);
});

test('changes since a revision are of one kind, and gone after compaction', () => {
  const store = new Store({ clock: new VirtualClock() });
  store.put('configmaps', 'n/a', object('a'));
  store.put('secrets', 'n/s', object('s'));
  store.put('configmaps', 'n/a', object('a', '2'));
  store.delete('configmaps', 'n/a');
  const seen = store.changesSince('configmaps', 1).map(({ type, revision }) => `${type} ${revision}`);
  expect(seen).toEqual(['MODIFIED 3', 'DELETED 4']);
  store.compact();
  expect(() => store.changesSince('configmaps', 1)).toThrow(RevisionCompacted);
  expect(store.changesSince('configmaps', 4)).toEqual([]);
});

test('history is kept by number, and longer while it is young', async () => {
  const clock = new VirtualClock();
  const store = new Store({ clock, history: { limit: 10, minAgeMs: 60_000 } });
  for (let index = 0; index < 30; index += 1) store.put('configmaps', 'n/a', object('a', String(index)));
  expect(store.compactedRevision).toBe(0);
  for (let index = 0; index < 30; index += 1) store.put('configmaps', 'n/a', object('a', String(index)));
  expect(store.compactedRevision).toBe(20);
  await clock.advance(120_000);
  store.put('configmaps', 'n/a', object('a', 'x'));
  expect(store.compactedRevision).toBe(51);
  expect(store.changesSince('configmaps', 51)).toHaveLength(10);
});

test('observers hear before watchers, both inside the write', () => {
  const store = new Store({ clock: new VirtualClock() });
  const heard: string[] = [];
  store.subscribe('configmaps', (change: Change) => heard.push(`watch ${change.revision}`));
  const stop = store.observe((change) => heard.push(`observe ${change.revision}`));
  store.put('configmaps', 'n/a', object('a'));
  store.put('secrets', 'n/a', object('a'));
  stop();
  store.put('configmaps', 'n/a', object('a', '2'));
  expect(heard).toEqual(['observe 1', 'watch 1', 'observe 2', 'watch 3']);
});

test('what belongs to the past holds no object any more and reads as before', () => {
  const store = new Store({ clock: new VirtualClock() });
  const first = store.put('configmaps', 'n/a', object('a', 'old ü'));
  const before = first.object;
  expect(first.object).toBe(before);
  const second = store.put('configmaps', 'n/a', object('a', 'new'));
  expect(first.object).toEqual(before);
  expect(first.object).not.toBe(before);
  expect(second.object).toBe(second.object);
  const gone = store.delete('configmaps', 'n/a')!;
  expect(gone.object).toEqual({ ...object('a', 'new'), metadata: { name: 'a', resourceVersion: '3' } });
  expect(gone.object).not.toBe(gone.object);
  expect(store.listAt('configmaps', 'n', 1).map((entry) => entry.object)).toEqual([before]);
});

test('a write whose compaction finds the disk full is answered, told to watchers, and compacted later', () => {
  let full = true;
  const compacted: number[] = [];
  const troubles: string[] = [];
  const store = new Store({
    clock: new VirtualClock(),
    history: { limit: 1, minAgeMs: 0 },
    log: (message) => troubles.push(message),
    storage: {
      ...memoryStorage,
      compact(revision) {
        if (full) throw new Error('database or disk is full');
        compacted.push(revision);
      },
    },
  });
  const told: number[] = [];
  store.subscribe('configmaps', ({ revision }) => told.push(revision));
  const write = (from: number, to: number) => {
    for (let index = from; index <= to; index += 1) store.put('configmaps', 'n/a', object('a', String(index)));
  };
  write(1, 1_100);
  expect(store.get('configmaps', 'n/a')?.revision).toBe(1_100);
  expect(told).toHaveLength(1_100);
  expect(troubles).toEqual(['history could not be compacted: database or disk is full']);
  full = false;
  write(1_101, 2_200);
  expect(compacted).toHaveLength(1);
});

test('a write that cannot be kept never happened, and the error itself is told, not only its words', () => {
  const full = new StorageError('full', 'no room', { hint: 'make room' });
  const errors: unknown[] = [];
  const store = new Store({
    clock: new VirtualClock(),
    log: (_message, { error }) => errors.push(error),
    storage: {
      ...memoryStorage,
      append() {
        throw full;
      },
    },
  });
  expect(() => store.put('configmaps', 'n/a', object('a'))).toThrow(full);
  expect(store.get('configmaps', 'n/a')).toBeUndefined();
  expect(errors).toEqual([full]);
});

test('a listener that fails keeps neither the others from hearing nor the writer from the answer', () => {
  const troubles: string[] = [];
  const store = new Store({ clock: new VirtualClock(), log: (message) => troubles.push(message) });
  const told: number[] = [];
  store.subscribe('configmaps', () => {
    throw new Error('boom');
  });
  store.subscribe('configmaps', ({ revision }) => told.push(revision));
  expect(store.put('configmaps', 'n/a', object('a')).revision).toBe(1);
  expect(told).toEqual([1]);
  expect(troubles).toEqual(['a listener failed on revision 1: boom']);
});
