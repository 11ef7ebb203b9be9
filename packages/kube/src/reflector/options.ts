import type { Clock } from '../clock.ts';
import type { Random } from '../random.ts';
import type { Transport } from '../transport.ts';
import type { BackOffOptions } from './back-off.ts';
import type { Problem, RestartReason } from './failure.ts';
import type { ReflectorQuery } from './query.ts';
import type { ReflectorSink } from './sink.ts';
import type { YieldToLoop } from './time-slice.ts';

/** What a reflector tells about itself. */
export interface ReflectorReport {
  /** The failure that keeps the reflector from working, or `undefined` when it is over. */
  problem(problem: Problem | undefined): void;
  restarted(reason: RestartReason): void;
  /** Something was received. */
  activity(epochMs: number): void;
  debug(message: string, fields: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** What is known about the server, shared by all reflectors of a cluster. */
export interface ServerAbilities {
  /** Whether a watch can start with the present objects. */
  watchList: boolean;
}

export interface ReflectorTimings {
  /** Objects per page of a LIST. Default 500. */
  pageSize?: number;
  /** No answer to a request for so long: try again. Default 60 000 ms. */
  answerMs?: number;
  /** A LIST, or the first part of a streamed list, that stands still for so long is given up. Default 30 000 ms. */
  stallMs?: number;
  /** A watch with bookmarks that is silent for so long is dead; they come about every minute. Default 75 000 ms. */
  heartbeatMs?: number;
  /** Shortest time after which the server ends a watch; the longest is twice that. Default 300 s. */
  watchSeconds?: number;
  /** How much later than announced the server may end a watch. Default 30 000 ms. */
  overdueMs?: number;
  /** Streamed lists that may fail in a row before pages are used. Default 3. */
  streamTries?: number;
  backOff?: BackOffOptions;
}

export interface ReflectorOptions {
  readonly query: ReflectorQuery;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly yieldToLoop: YieldToLoop;
  readonly sink: ReflectorSink;
  readonly report: ReflectorReport;
  readonly abilities: ServerAbilities;
  readonly timings?: ReflectorTimings | undefined;
}
