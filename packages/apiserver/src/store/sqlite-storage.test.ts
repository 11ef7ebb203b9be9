import { chmod, copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ApiObject } from '../object.ts';
import { VirtualClock } from '../virtual-clock.ts';
import { sqliteStorage } from './sqlite-storage.ts';
import { StorageError } from './storage-error.ts';
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

test('what is kept is for its owner only, also what an earlier version left open', async () => {
  await rm(directory, { recursive: true });
  const file = join(directory, 'cluster.db');
  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
  const first = open();
  first.put('configmaps', 'n/a', object('a', '1'));
  expect(await modeOf(directory)).toBe('700');
  expect(await modeOf(file)).toBe('600');
  expect(await modeOf(`${file}-wal`)).toBe('600');
  first.close();
  await chmod(file, 0o644);
  open().close();
  expect(await modeOf(file)).toBe('600');
});

/** A folder as a process leaves it that was killed after 30 writes. */
async function killedAfterWrites(): Promise<{ readonly file: string; readonly log: string }> {
  const file = join(directory, 'cluster.db');
  const copy = join(directory, 'copy');
  const living = open();
  for (let index = 1; index <= 30; index += 1)
    living.put('configmaps', `n/a${index % 3}`, object('a', `value ${index}`));
  await copyFile(file, copy);
  await copyFile(`${file}-wal`, `${copy}-wal`);
  living.close();
  await copyFile(copy, file);
  await copyFile(`${copy}-wal`, `${file}-wal`);
  return { file, log: `${file}-wal` };
}

async function flipBit(file: string, at: number): Promise<void> {
  const bytes = await readFile(file);
  bytes[at]! ^= 0x10;
  await writeFile(file, bytes);
}

function refusal(): unknown {
  try {
    open().close();
    return undefined;
  } catch (error) {
    return error;
  }
}

test('the log a killed process left is read to its end', async () => {
  await killedAfterWrites();
  const store = open();
  expect(store.revision).toBe(30);
  store.close();
});

test.each(['its header', 'the salt of a frame', 'a page', 'the checksum of a frame'])(
  'a bit flipped in the log, in %s, is refused with what to do instead of dropping the writes behind it',
  async (place) => {
    const { log } = await killedAfterWrites();
    const frame = 32 + 5 * (24 + 4096);
    const at =
      { 'its header': 17, 'the salt of a frame': frame + 9, 'a page': frame + 24 + 3_000 }[place] ?? frame + 18;
    await flipBit(log, at);
    const before = await readFile(log);
    const error = refusal();
    expect(error).toBeInstanceOf(StorageError);
    expect(error).toMatchObject({ code: 'damaged', message: expect.stringContaining('cluster.db-wal is damaged') });
    expect((error as StorageError).hint).toContain('copy of the folder');
    // Whoever wants to rescue something finds it as it was.
    expect(await readFile(log)).toEqual(before);
  },
);

test('a last frame that was never finished is no damage', async () => {
  const { log } = await killedAfterWrites();
  const bytes = await readFile(log);
  await writeFile(log, bytes.subarray(0, bytes.length - 1_000));
  const store = open();
  expect(store.revision).toBe(29);
  store.close();
});

test('no flipped bit in the database goes unnoticed or turns into another content', { timeout: 60_000 }, async () => {
  const first = open();
  for (let index = 1; index <= 30; index += 1)
    first.put('configmaps', `n/a${index % 3}`, object('a', `value ${index}`));
  first.close();
  const contents = () => {
    const store = open();
    const objects = store.list('configmaps').map((entry) => entry.object);
    store.close();
    return objects;
  };
  const expected = contents();
  const file = join(directory, 'cluster.db');
  const whole = await readFile(file);
  let refused = 0;
  for (let at = 0; at < whole.length; at += 37) {
    await writeFile(file, whole);
    await rm(`${file}-wal`, { force: true });
    await flipBit(file, at);
    try {
      expect(contents(), `a bit flipped at ${at}`).toEqual(expected);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      refused += 1;
    }
  }
  expect(refused).toBeGreaterThan(50);
});

test('a file that is no database is named as damaged, not as locked or full', async () => {
  await writeFile(
    join(directory, 'cluster.db'),
    'this is a text, and a long one, that no database begins with'.repeat(100),
  );
  expect(refusal()).toMatchObject({ code: 'damaged' });
});

test('a file of before checksums is read and goes on with them', () => {
  const old = new DatabaseSync(join(directory, 'cluster.db'));
  old.exec(`
    CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE changes (revision INTEGER PRIMARY KEY, type TEXT NOT NULL, storage TEXT NOT NULL, key TEXT NOT NULL,
      time INTEGER NOT NULL, object TEXT NOT NULL) STRICT;
    INSERT INTO changes VALUES (1, 'ADDED', 'configmaps', 'n/a', 0, '{"metadata":{"name":"a"},"data":{"value":"1"}}');
  `);
  old.close();
  const store = open();
  expect(store.get('configmaps', 'n/a')?.object['data']).toEqual({ value: '1' });
  expect(store.put('configmaps', 'n/a', object('a', '2')).revision).toBe(2);
  store.close();
});
