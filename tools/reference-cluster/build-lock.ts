import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

export interface BuildLockOptions {
  /** Called once when somebody else holds the lock. */
  onWait?: () => void;
  /** Pause between two tries, in milliseconds. Default 500. */
  retryMs?: number;
  signal?: AbortSignal;
}

/**
 * Holds `file` as a lock between processes until disposed. SQLite takes a lock of the operating system on the file, so a
 * holder that is killed loses it at once and no stale lock can stay behind.
 */
export async function acquireBuildLock(file: string, options: BuildLockOptions = {}): Promise<Disposable> {
  const database = new DatabaseSync(file);
  try {
    for (let waited = false; ;) {
      try {
        database.exec('BEGIN EXCLUSIVE');
        return { [Symbol.dispose]: () => database.close() };
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
      if (!waited) options.onWait?.();
      waited = true;
      await sleep(options.retryMs ?? 500, undefined, { signal: options.signal });
    }
  } catch (error) {
    database.close();
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  const sqliteBusy = 5;
  return error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy;
}
