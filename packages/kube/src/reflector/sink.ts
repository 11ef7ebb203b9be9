import type { Version } from './resource-version.ts';

/** Where a reflector puts what it receives. All calls are synchronous: nothing waits between the socket and the store. */
export interface ReflectorSink {
  /** A whole new set is coming. It replaces what is stored when it is committed, not before. */
  beginLoad(): Load;
  /** One change of a live watch; returns the version it carried. Throws `UndecodableError` when it cannot be read. */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', bytes: Buffer, start: number, end: number): Version;
  /** All changes up to `version` have been applied. */
  caughtUp(version: Version): void;
  /** A run of changes is over: tell whoever listens. */
  flush(): void;
}

/** A set of objects under construction. */
export interface Load {
  put(bytes: Buffer, start: number, end: number): void;
  /** Like `put` for an item of a list, whose end is not known; returns it. */
  putItem(bytes: Buffer, start: number): number;
  remove(bytes: Buffer, start: number, end: number): void;
  commit(version: Version): void;
  /** It will not be committed. */
  discard(): void;
}
