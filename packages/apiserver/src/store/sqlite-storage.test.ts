import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ApiObject } from '../object.ts';
import { VirtualClock } from '../virtual-clock.ts';
import { sqliteStorage } from './sqlite-storage.ts';
import { RevisionCompacted, Store } from './store.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'slipway-store-'));
});
afterEach(() => rm(directory, { recursive: true }));

const open = () => new Store({ clock: new VirtualClock(), storage: sqliteStorage({ directory }) });
const object = (name: string, value: string): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, uid: `uid-${name}` },
  data: { value },
});

test('a store opened again has its objects, its counter and its history', () => {
  const first = open();
  first.put('configmaps', 'n/a', object('a', '1'));
  first.put('configmaps', 'n/b', object('b', '1'));
  first.put('configmaps', 'n/a', object('a', '2'));
  first.delete('configmaps', 'n/b');
  first.close();

  const second = open();
  expect(second.revision).toBe(4);
  expect(second.list('configmaps').map(({ object: { metadata, data } }) => ({ metadata, data }))).toEqual([
    { metadata: { name: 'a', uid: 'uid-a', resourceVersion: '3' }, data: { value: '2' } },
  ]);
  const replay = second.changesSince('configmaps', 2);
  expect(replay.map(({ type, revision }) => `${type} ${revision}`)).toEqual(['MODIFIED 3', 'DELETED 4']);
  expect(replay[1]!.previous!.object['data']).toEqual({ value: '1' });
  expect(second.put('configmaps', 'n/c', object('c', '1')).revision).toBe(5);
  second.close();
});

test('a second cluster on the same file is told so', () => {
  const first = open();
  first.put('configmaps', 'n/a', object('a', '1'));
  expect(open).toThrow(/cluster\.db is in use by another cluster/);
  first.close();
  const second = open();
  expect(second.get('configmaps', 'n/a')?.object['data']).toEqual({ value: '1' });
  second.close();
});

test('compaction keeps the current state and the counter, even when the last change was a deletion', () => {
  const first = open();
  first.put('configmaps', 'n/a', object('a', '1'));
  first.put('configmaps', 'n/b', object('b', '1'));
  first.delete('configmaps', 'n/b');
  first.compact();
  first.close();

  const second = open();
  expect(second.revision).toBe(3);
  expect(second.list('configmaps').map(({ key }) => key)).toEqual(['n/a']);
  expect(() => second.changesSince('configmaps', 1)).toThrow(RevisionCompacted);
  expect(second.put('configmaps', 'n/c', object('c', '1')).revision).toBe(4);
  second.close();
});
