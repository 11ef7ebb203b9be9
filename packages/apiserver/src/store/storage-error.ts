/** Why changes cannot be kept or read back. */
export type StorageErrorCode = 'damaged' | 'full' | 'in-use' | 'read-only' | 'unusable';

/** What is wrong with the folder of a cluster, and what its owner can do about it. */
export class StorageError extends Error {
  readonly code: StorageErrorCode;
  /** What to do. */
  readonly hint: string;

  constructor(code: StorageErrorCode, message: string, options: { hint: string; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'StorageError';
    this.code = code;
    this.hint = options.hint;
  }
}

export function damaged(file: string, what: string, cause?: unknown): StorageError {
  return new StorageError('damaged', `${file} is damaged: ${what}`, {
    hint: 'put a copy of the folder in its place, or begin with an empty folder; the damaged one is left as it is',
    cause,
  });
}

/** Primary result codes of SQLite, and what they mean for the owner of the folder. */
const meanings: Readonly<Record<number, { code: StorageErrorCode; hint: string }>> = {
  5: { code: 'in-use', hint: 'stop the other one, or choose another folder' },
  6: { code: 'in-use', hint: 'stop the other one, or choose another folder' },
  8: { code: 'read-only', hint: 'make the folder and its files writable for this user, or choose another folder' },
  10: { code: 'unusable', hint: 'the disk reports errors: look at the system log, or choose a folder on another disk' },
  13: { code: 'full', hint: 'make room on the disk; nothing kept is lost' },
  14: { code: 'unusable', hint: 'make the folder and its files accessible for this user, or choose another folder' },
};

/** The same error with its cause named. */
export function storageError(error: unknown, file: string): unknown {
  const { errcode, message } = error as { errcode?: number; message: string };
  if (error instanceof StorageError || errcode === undefined) return error;
  const primary = errcode & 0xff;
  // SQLITE_CORRUPT and SQLITE_NOTADB.
  if (primary === 11 || primary === 26) return damaged(file, message, error);
  const meaning = meanings[primary];
  if (!meaning) return error;
  const { code, hint } = meaning;
  const text = code === 'in-use' ? `${file} is in use by another cluster` : `${file}: ${message}`;
  return new StorageError(code, text, { hint, cause: error });
}
