import type { ApiObject } from '../object.ts';

/** One change as it is kept. */
export interface StoredChange {
  readonly revision: number;
  readonly type: ChangeType;
  readonly storageId: string;
  readonly key: string;
  /** The object with its revision; for DELETED the last content. */
  readonly object: ApiObject;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** What was kept, in the order of revisions. */
export interface StoredState {
  /** At least the revision of the last change. */
  readonly revision: number;
  /** Changes up to here may be incomplete: only the last state of each object is known. */
  readonly compactedRevision: number;
  readonly changes: Iterable<StoredChange>;
}

/** Where changes are kept beyond the life of the process. */
export interface Storage {
  load(): StoredState;
  /** Returns when the change survives the end of the process. */
  append(change: StoredChange): void;
  /** Forgets history up to and including a revision, but never the current state. */
  compact(revision: number): void;
  close(): void;
}

/** Keeps nothing. */
export const memoryStorage: Storage = {
  load: () => ({ revision: 0, compactedRevision: 0, changes: [] }),
  append() {},
  compact() {},
  close() {},
};
