import { parseExactly } from '../big-integer.ts';
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { ApiObject } from '../object.ts';
import { damaged, storageError } from './storage-error.ts';
import type { ChangeType, Storage, StoredChange } from './storage.ts';
import { losesCommits } from './write-ahead-log.ts';

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
 * insert; compaction removes rows that are neither recent nor last. Each row carries a checksum. What is damaged is refused
 * with a `StorageError` before anything is written.
 */
export function sqliteStorage(options: SqliteOptions): Storage {
  const file = join(options.directory, 'cluster.db');
  /** Every failure of the database says what is the matter with the folder. */
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw storageError(error, file);
    }
  };
  attempt(() => makePrivate(options.directory, file));
  const database = attempt(() => new DatabaseSync(file));
  try {
    attempt(() => prepareDatabase(database, file, options.survive ?? 'process'));
  } catch (error) {
    database.close();
    throw error;
  }
  const insert = database.prepare(
    'INSERT INTO changes (revision, type, storage, key, time, object, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );

  return {
    load: () =>
      attempt(() => {
        const meta = database.prepare('SELECT value FROM meta WHERE name = ?').get('compacted') as
          | { value: number }
          | undefined;
        const compactedRevision = meta?.value ?? 0;
        const last = database.prepare('SELECT max(revision) AS revision FROM changes').get() as {
          revision: number | null;
        };
        const rows = database.prepare('SELECT * FROM changes ORDER BY revision').iterate() as Iterable<Row>;
        return {
          compactedRevision,
          revision: Math.max(compactedRevision, last.revision ?? 0),
          changes: changesOf(rows, compactedRevision, file),
        };
      }),
    append: ({ revision, type, storageId, key, time, object }) =>
      attempt(() => {
        const row = { revision, type, storage: storageId, key, time, object: JSON.stringify(object) };
        insert.run(revision, type, storageId, key, time, row.object, checksumOf(row));
      }),
    compact: (revision) =>
      attempt(() => {
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
          // A full disk has rolled it back already.
          if (database.isTransaction) database.exec('ROLLBACK');
          throw error;
        }
      }),
    close() {
      database.close();
    },
  };
}

/** Secrets lie in these files as they are. A folder that was there before keeps its mode: it may hold other things. */
function makePrivate(directory: string, file: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // SQLite gives the files beside it (`-wal`, `-shm`, `-journal`) the mode of the database.
  closeSync(openSync(file, 'a', 0o600));
  for (const kept of [file, `${file}-wal`]) {
    try {
      chmodSync(kept, 0o600);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Files of somebody else, or on a disk without modes, are as private as their owner made them.
      if (code !== 'ENOENT' && code !== 'EPERM' && code !== 'EROFS') throw error;
    }
  }
}

function prepareDatabase(database: DatabaseSync, file: string, survive: 'process' | 'power'): void {
  // Looked at before SQLite reads the log, drops what it cannot read and, when closed, the log. Twice, because a cluster that is
  // running may have been writing into it at that very moment.
  if (losesCommits(`${file}-wal`) && losesCommits(`${file}-wal`)) {
    throw damaged(`${file}-wal`, 'it holds changes behind a place that cannot be read');
  }
  // In WAL mode a commit is in the hands of the operating system when it returns; NORMAL leaves out only the disk flush.
  // Two clusters counting revisions in one file would overwrite each other, hence the lock; it goes with the process.
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; COMMIT');
  const [found] = database.prepare('PRAGMA integrity_check(1)').all() as { integrity_check: string }[];
  if (found && found.integrity_check !== 'ok') throw damaged(file, found.integrity_check);
  database.exec(`
    PRAGMA synchronous = ${survive === 'power' ? 'FULL' : 'NORMAL'};
    CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS changes (
      revision INTEGER PRIMARY KEY,
      type TEXT NOT NULL,
      storage TEXT NOT NULL,
      key TEXT NOT NULL,
      time INTEGER NOT NULL,
      object TEXT NOT NULL,
      checksum INTEGER
    ) STRICT;
    CREATE INDEX IF NOT EXISTS changes_by_key ON changes (storage, key, revision);
  `);
  const columns = database.prepare("SELECT name FROM pragma_table_info('changes')").all() as { name: string }[];
  // Files of before checksums; their rows have none.
  if (!columns.some(({ name }) => name === 'checksum'))
    database.exec('ALTER TABLE changes ADD COLUMN checksum INTEGER');
}

interface Row {
  readonly revision: number;
  readonly type: ChangeType;
  readonly storage: string;
  readonly key: string;
  readonly time: number;
  readonly object: string;
  readonly checksum: number | null;
}

function checksumOf({ revision, type, storage, key, time, object }: Omit<Row, 'checksum'>): number {
  return crc32(object, crc32(`${revision}\n${type}\n${storage}\n${key}\n${time}\n`));
}

function* changesOf(rows: Iterable<Row>, compactedRevision: number, file: string): Generator<StoredChange> {
  let expected = compactedRevision + 1;
  for (const row of rows) {
    const { revision, type, storage, key, time, object, checksum } = row;
    if (checksum !== null && checksum !== checksumOf(row)) {
      throw damaged(file, `the change with revision ${revision} is not as it was written`);
    }
    if (revision > compactedRevision) {
      if (revision !== expected) throw damaged(file, `the change with revision ${expected} is missing`);
      expected += 1;
    }
    yield { revision, type, storageId: storage, key, time, object: parseExactly(object) as unknown as ApiObject };
  }
}
