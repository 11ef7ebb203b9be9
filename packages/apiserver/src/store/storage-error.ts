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

interface Meaning {
  readonly code: StorageErrorCode;
  readonly hint: string;
}

const inUse: Meaning = { code: 'in-use', hint: 'stop the other one, or choose another folder' };
const full: Meaning = { code: 'full', hint: 'make room on the disk; nothing kept is lost' };
const readOnly: Meaning = {
  code: 'read-only',
  hint: 'make the folder and its files writable for this user, or choose another folder',
};
const failing: Meaning = {
  code: 'unusable',
  hint: 'the disk reports errors: look at the system log, or choose a folder on another disk',
};

/** What primary result codes of SQLite and codes of the operating system mean for the owner of the folder. */
const meanings: Readonly<Record<string, Meaning>> = {
  5: inUse,
  6: inUse,
  8: readOnly,
  10: failing,
  13: full,
  14: readOnly,
  EACCES: readOnly,
  EPERM: readOnly,
  EROFS: readOnly,
  ENOSPC: full,
  EDQUOT: full,
  EIO: failing,
};

/** The same error with its cause named. */
export function storageError(error: unknown, file: string): unknown {
  if (error instanceof StorageError) return error;
  const { errcode, code: name, message } = error as { errcode?: number; code?: string; message: string };
  const primary = errcode === undefined ? undefined : errcode & 0xff;
  // SQLITE_CORRUPT and SQLITE_NOTADB.
  if (primary === 11 || primary === 26) return damaged(file, message, error);
  const meaning = meanings[primary ?? name ?? ''];
  if (!meaning) return error;
  const { code, hint } = meaning;
  const text = code === 'in-use' ? `${file} is in use by another cluster` : `${file}: ${message}`;
  return new StorageError(code, text, { hint, cause: error });
}
