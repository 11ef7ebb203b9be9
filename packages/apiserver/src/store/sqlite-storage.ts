import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ApiObject } from '../object.ts';
import type { ChangeType, Storage, StoredChange } from './storage.ts';

export interface SqliteOptions {
  /** The directory of the database file; made when it is missing. */
  readonly directory: string;
  /**
   * `process` (default): an acknowledged write survives the death of the process at any moment. `power`: it survives the
   * loss of power too, at the price of a disk flush for each write.
   */
  readonly survive?: 'process' | 'power';
}

/**
 * One SQLite file with one row for each change. The current state is the last row of each object, so a write is a single
 * insert; compaction removes rows that are neither recent nor last.
 */
export function sqliteStorage(options: SqliteOptions): Storage {
  mkdirSync(options.directory, { recursive: true });
  const file = join(options.directory, 'cluster.db');
  const database = new DatabaseSync(file);
  // In WAL mode a commit is in the hands of the operating system when it returns; NORMAL leaves out only the disk flush.
  // Two clusters counting revisions in one file would overwrite each other, hence the lock; it goes with the process.
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; COMMIT');
  } catch (error) {
    database.close();
    if (/locked|busy/i.test((error as Error).message)) throw new Error(`${file} is in use by another cluster`);
    throw error;
  }
  database.exec(`
    PRAGMA synchronous = ${options.survive === 'power' ? 'FULL' : 'NORMAL'};
    CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS changes (
      revision INTEGER PRIMARY KEY,
      type TEXT NOT NULL,
      storage TEXT NOT NULL,
      key TEXT NOT NULL,
      time INTEGER NOT NULL,
      object TEXT NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS changes_by_key ON changes (storage, key, revision);
  `);
  const insert = database.prepare(
    'INSERT INTO changes (revision, type, storage, key, time, object) VALUES (?, ?, ?, ?, ?, ?)',
  );

  return {
    load() {
      const meta = database.prepare('SELECT value FROM meta WHERE name = ?').get('compacted') as
        | { value: number }
        | undefined;
      const compactedRevision = meta?.value ?? 0;
      const last = database.prepare('SELECT max(revision) AS revision FROM changes').get() as {
        revision: number | null;
      };
      const rows = database.prepare('SELECT * FROM changes ORDER BY revision');
      return {
        compactedRevision,
        revision: Math.max(compactedRevision, last.revision ?? 0),
        changes: changesOf(rows.iterate() as Iterable<Row>),
      };
    },
    append({ revision, type, storageId, key, time, object }) {
      insert.run(revision, type, storageId, key, time, JSON.stringify(object));
    },
    compact(revision) {
      database.exec('BEGIN');
      try {
        database
          .prepare("INSERT INTO meta VALUES ('compacted', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
          .run(revision);
        database
          .prepare(
            `DELETE FROM changes WHERE revision <= ? AND (type = 'DELETED' OR EXISTS (
               SELECT 1 FROM changes AS later
               WHERE later.storage = changes.storage AND later.key = changes.key AND later.revision > changes.revision))`,
          )
          .run(revision);
        database.exec('COMMIT');
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
    close() {
      database.close();
    },
  };
}

interface Row {
  revision: number;
  type: ChangeType;
  storage: string;
  key: string;
  time: number;
  object: string;
}

function* changesOf(rows: Iterable<Row>): Generator<StoredChange> {
  for (const { revision, type, storage, key, time, object } of rows) {
    yield { revision, type, storageId: storage, key, time, object: JSON.parse(object) as ApiObject };
  }
}
