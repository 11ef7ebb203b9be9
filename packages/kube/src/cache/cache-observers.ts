import type { Kind } from '../kind.ts';
import type { RestartReason } from '../reflector/failure.ts';

/** Where the cache writes what happens to it. Any structured logger fits. */
export interface CacheLog {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Told as things happen; for numbers that can be asked for, see `Cache.status`. */
export interface CacheMetrics {
  eventReceived?(kind: Kind, type: 'added' | 'updated' | 'deleted'): void;
  watchRestarted?(kind: Kind, reason: RestartReason): void;
  /** A watch fails, for the reason given, or works again. Failures in a row are told once. */
  problemChanged?(kind: Kind, problem: string | undefined): void;
  handlerFailed?(kind: Kind): void;
  ownWriteTimedOut?(kind: Kind): void;
}
