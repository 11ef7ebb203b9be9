import type { Clock, Timer } from '@slipway/kube';

import { Heap, type HeapNode } from './heap.ts';
import { defaultRateLimiter, type RateLimiter } from './rate-limiter.ts';
import { RunningKeys } from './running-keys.ts';

/** Priority of keys that come from a first load, a reload or a resync. Fresh changes have 0. */
export const lowPriority = -100;

export interface WorkQueueOptions {
  clock: Clock;
  /** Default: {@link defaultRateLimiter}. */
  rateLimiter?: RateLimiter;
  /**
   * How long a key has to be ready to gain one point of priority, in milliseconds. Default 100: a key of an initial list
   * (-100) that has waited 10 s goes before a fresh change. This is what keeps low priorities from starving.
   */
  ageingMsPerPoint?: number;
  metrics?: QueueMetrics;
}

/** Where a queue reports to. All times in milliseconds. */
export interface QueueMetrics {
  /** A key became ready or stopped being ready. */
  depth(priority: number, change: 1 | -1): void;
  added(priority: number): void;
  retried(): void;
  /** A worker took the key `waitedMs` after it became ready. */
  taken(waitedMs: number, priority: number): void;
  finished(workedMs: number): void;
}

export interface AddOptions {
  /** Higher goes first. Default 0. */
  priority?: number;
  /** Earliest moment the key is handed out, in milliseconds from now. Default 0. */
  afterMs?: number;
  /** What caused it, kept for the first cause of a pending key. */
  cause?: unknown;
}

/** A key handed to a worker. Give it back with {@link WorkQueue.done}. */
export interface QueueItem {
  readonly key: string;
  readonly priority: number;
  /** Epoch milliseconds at which the key became ready. */
  readonly readyAt: number;
  /** Causes in order of arrival, at most {@link causeLimit}. */
  readonly causes: readonly unknown[];
}

/** How many causes a pending key remembers. */
export const causeLimit = 8;

interface Pending extends HeapNode {
  readonly key: string;
  priority: number;
  state: 'delayed' | 'ready' | 'blocked';
  /** On the monotonic clock, as `readyAt` is. */
  dueAt: number;
  readyAt: number;
  /** Order of hand-out: the smallest goes first. Waiting and priority are one number, so ageing needs no re-sorting. */
  rank: number;
  sequence: number;
  causes: unknown[];
}

/**
 * Keys waiting for a worker. A key is in it at most once, is never with two workers at a time, and comes back after
 * `done` when it was added while a worker had it. Of two adds of one key, the earlier due time and the higher priority win.
 * Entries live only while they are pending or being worked on.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #limiter: RateLimiter;
  readonly #ageing: number;
  readonly #metrics: QueueMetrics | undefined;

  readonly #pending = new Map<string, Pending>();
  readonly #running = new RunningKeys();
  readonly #ready = new Heap<Pending>((a, b) => a.rank < b.rank || (a.rank === b.rank && a.sequence < b.sequence));
  readonly #delayed = new Heap<Pending>((a, b) => a.dueAt < b.dueAt);
  readonly #workers: ((item: QueueItem | undefined) => void)[] = [];
  #blocked = 0;

  #timer: { at: number; timer: Timer } | undefined;
  #pumping = false;
  #closed: 'no' | 'draining' | 'closed' = 'no';
  #idleWaiters: (() => void)[] = [];
  #sequence = 0;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#limiter = options.rateLimiter ?? defaultRateLimiter(options.clock);
    this.#ageing = options.ageingMsPerPoint ?? 100;
    this.#metrics = options.metrics;
  }

  /** Keys ready for a worker, including those whose present worker has to finish first. */
  get depth(): number {
    return this.#ready.size + this.#blocked;
  }

  /** Keys waiting for their time. */
  get delayed(): number {
    return this.#delayed.size;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Sum of the times the running workers have spent on their keys so far. */
  unfinishedWorkMs(): number {
    const now = this.#clock.monotonic();
    let sum = 0;
    for (const startedAt of this.#running.starts) sum += now - startedAt;
    return sum;
  }

  longestRunningMs(): number {
    const now = this.#clock.monotonic();
    let longest = 0;
    for (const startedAt of this.#running.starts) longest = Math.max(longest, now - startedAt);
    return longest;
  }

  add(key: string, options: AddOptions = {}): void {
    if (this.#closed !== 'no') return;
    const { priority = 0, afterMs = 0, cause } = options;
    const now = this.#clock.monotonic();
    const dueAt = now + Math.max(0, afterMs);
    const known = this.#pending.get(key);
    if (!known) {
      const entry: Pending = {
        key,
        priority,
        state: 'delayed',
        dueAt,
        readyAt: 0,
        rank: 0,
        sequence: 0,
        causes: cause === undefined ? [] : [cause],
        heapIndex: -1,
      };
      this.#pending.set(key, entry);
      if (dueAt <= now) this.#makeReady(entry, now);
      else {
        this.#delayed.push(entry);
        this.#armTimer();
      }
      return;
    }
    if (cause !== undefined && known.causes.length < causeLimit) known.causes.push(cause);
    if (priority > known.priority) this.#raise(known, priority, now);
    if (known.state === 'delayed' && dueAt < known.dueAt) {
      this.#delayed.remove(known);
      known.dueAt = dueAt;
      if (dueAt <= now) this.#makeReady(known, now);
      else this.#delayed.push(known);
      this.#armTimer();
    }
  }

  /** Adds a key that failed: it waits as long as the rate limiter says. */
  addRateLimited(key: string, options: Omit<AddOptions, 'afterMs'> = {}): void {
    if (this.#closed !== 'no') return;
    this.#metrics?.retried();
    this.add(key, { ...options, afterMs: this.#limiter.delayMs(key) });
  }

  /** The key succeeded: its next failure starts with the shortest wait again. */
  forget(key: string): void {
    this.#limiter.forget(key);
  }

  failures(key: string): number {
    return this.#limiter.failures(key);
  }

  /** The next key, as soon as there is one; `undefined` once the queue is shut down (and drained). */
  take(): Promise<QueueItem | undefined> {
    return new Promise((resolve) => {
      this.#workers.push(resolve);
      this.#pump();
    });
  }

  /** The worker is finished with a key it took. */
  done(item: Pick<QueueItem, 'key'>): void {
    const startedAt = this.#running.end(item.key);
    if (startedAt === undefined) throw new Error(`queue: done('${item.key}') without take()`);
    this.#metrics?.finished(this.#clock.monotonic() - startedAt);
    const waiting = this.#pending.get(item.key);
    if (waiting?.state === 'blocked') {
      this.#blocked -= 1;
      waiting.state = 'ready';
      this.#ready.push(waiting);
    }
    this.#schedulePump();
    this.#checkIdle();
  }

  /**
   * Takes no more keys and forgets those that wait for their time. With `drain` (default) the ready ones are still handed
   * out; without, workers get `undefined` at once.
   */
  shutDown(options: { drain?: boolean } = {}): void {
    if (this.#closed === 'closed') return;
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    for (const entry of this.#delayed) this.#pending.delete(entry.key);
    this.#delayed.clear();
    this.#closed = 'draining';
    if (options.drain === false) {
      this.#closed = 'closed';
      for (const entry of this.#pending.values()) this.#metrics?.depth(entry.priority, -1);
      this.#pending.clear();
      this.#ready.clear();
      this.#blocked = 0;
    }
    this.#pump();
    this.#checkIdle();
  }

  /** Resolves when no key is ready and no worker has one. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idleWaiters.push(resolve);
      this.#checkIdle();
    });
  }

  #makeReady(entry: Pending, now: number): void {
    entry.readyAt = now;
    entry.rank = now - entry.priority * this.#ageing;
    entry.sequence = this.#sequence++;
    this.#metrics?.added(entry.priority);
    this.#metrics?.depth(entry.priority, 1);
    if (this.#running.has(entry.key)) {
      entry.state = 'blocked';
      this.#blocked += 1;
      return;
    }
    entry.state = 'ready';
    this.#ready.push(entry);
    this.#schedulePump();
  }

  #raise(entry: Pending, priority: number, now: number): void {
    if (entry.state !== 'delayed') {
      this.#metrics?.depth(entry.priority, -1);
      this.#metrics?.depth(priority, 1);
      const queued = entry.state === 'ready';
      if (queued) this.#ready.remove(entry);
      // The back of the higher priority, unless ageing has already brought the key further.
      entry.rank = Math.min(entry.rank, now - priority * this.#ageing);
      entry.sequence = this.#sequence++;
      if (queued) this.#ready.push(entry);
    }
    entry.priority = priority;
  }

  #armTimer(): void {
    const next = this.#delayed.peek();
    if (this.#timer && this.#timer.at === next?.dueAt) return;
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    if (!next) return;
    const timer = this.#clock.schedule(next.dueAt - this.#clock.monotonic(), () => this.#onTimer());
    this.#timer = { at: next.dueAt, timer };
  }

  #onTimer(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (let next = this.#delayed.peek(); next && next.dueAt <= now; next = this.#delayed.peek()) {
      this.#delayed.remove(next);
      this.#makeReady(next, now);
    }
    this.#armTimer();
  }

  /** Handing out waits for the end of the present batch of adds, so that the most urgent of them goes first. */
  #schedulePump(): void {
    if (this.#pumping || this.#workers.length === 0) return;
    this.#pumping = true;
    queueMicrotask(() => {
      this.#pumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#workers.length > 0) {
      const entry = this.#ready.pop();
      if (!entry) break;
      this.#pending.delete(entry.key);
      const now = this.#clock.monotonic();
      this.#running.begin(entry.key, now);
      this.#metrics?.depth(entry.priority, -1);
      this.#metrics?.taken(now - entry.readyAt, entry.priority);
      const { key, priority, causes } = entry;
      const readyAt = this.#clock.now() - (now - entry.readyAt);
      this.#workers.shift()!({ key, priority, readyAt, causes });
    }
    const empty = this.#ready.size === 0 && this.#blocked === 0;
    if (this.#closed === 'closed' || (this.#closed === 'draining' && empty)) {
      for (const worker of this.#workers.splice(0)) worker(undefined);
    }
  }

  #checkIdle(): void {
    if (this.#running.size > 0 || this.depth > 0) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}
