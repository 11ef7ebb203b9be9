import type { CacheEvent } from '../cache.ts';
import type { Clock } from '../clock.ts';
import { TimeSlice, type YieldToLoop } from '../reflector/time-slice.ts';
import type { Entry } from './entry.ts';

/** A change of the store that handlers have to hear of. */
export interface Notification {
  readonly type: 'added' | 'updated' | 'deleted';
  readonly entry: Entry;
  readonly old: Entry | undefined;
  readonly initial: boolean;
  readonly tombstone: boolean;
}

type Handler = (event: CacheEvent) => void;

interface Subscription {
  readonly handler: Handler;
  /** Number of the first piece of news that is for this handler. */
  readonly from: number;
  active: boolean;
}

interface Job {
  readonly number: number;
  /** `undefined`: for all handlers. */
  readonly only: Subscription | undefined;
  readonly news: Iterator<Notification>;
}

/**
 * Tells handlers what changed, in order, each change to all of them before the next. The store is ahead of the handlers:
 * it changes at once, while a large reload is told a slice at a time so that the event loop keeps turning.
 */
export class Dispatcher {
  readonly #clock: Clock;
  readonly #yieldToLoop: YieldToLoop;
  readonly #eventOf: (notification: Notification) => CacheEvent;
  readonly #onError: (error: unknown) => void;
  readonly #onTold: (notification: Notification) => void;
  readonly #subscriptions = new Set<Subscription>();
  #jobs: Job[] = [];
  #batch: Notification[] | undefined;
  #number = 0;
  #draining = false;
  #paused = false;
  #stopped = false;

  constructor(options: {
    clock: Clock;
    yieldToLoop: YieldToLoop;
    /** What handlers are given for a change; all of them are given the same. */
    eventOf: (notification: Notification) => CacheEvent;
    onError: (error: unknown) => void;
    /** Called when all handlers have heard of a change. */
    onTold: (notification: Notification) => void;
  }) {
    this.#clock = options.clock;
    this.#yieldToLoop = options.yieldToLoop;
    this.#eventOf = options.eventOf;
    this.#onError = options.onError;
    this.#onTold = options.onTold;
  }

  get listening(): boolean {
    return this.#subscriptions.size > 0;
  }

  /** Adds a handler. `present` is told to it alone, before anything that happens from now on. */
  subscribe(handler: Handler, present: Iterable<Notification>): () => void {
    this.#closeBatch();
    const subscription: Subscription = { handler, from: this.#number + 1, active: true };
    this.#subscriptions.add(subscription);
    this.#jobs.push({ number: this.#number, only: subscription, news: present[Symbol.iterator]() });
    this.#drain();
    return () => {
      subscription.active = false;
      this.#subscriptions.delete(subscription);
    };
  }

  /** Adds one change; it is told at the next `flush`. */
  push(notification: Notification): void {
    if (this.#subscriptions.size === 0) return;
    (this.#batch ??= []).push(notification);
  }

  /** Adds a whole run of changes, made up as they are told. */
  pushAll(news: Iterable<Notification>): void {
    if (this.#subscriptions.size === 0) return;
    this.#closeBatch();
    this.#number += 1;
    this.#jobs.push({ number: this.#number, only: undefined, news: news[Symbol.iterator]() });
  }

  flush(): void {
    if (this.#batch === undefined && this.#jobs.length === 0) return;
    this.#closeBatch();
    if (!this.#paused) this.#drain();
  }

  stop(): void {
    this.#stopped = true;
    this.#subscriptions.clear();
    this.#jobs = [];
    this.#batch = undefined;
  }

  #closeBatch(): void {
    if (this.#batch === undefined) return;
    this.#number += 1;
    this.#jobs.push({ number: this.#number, only: undefined, news: this.#batch[Symbol.iterator]() });
    this.#batch = undefined;
  }

  #drain(): void {
    if (this.#draining || this.#paused) return;
    this.#draining = true;
    const slice = new TimeSlice(this.#clock);
    try {
      for (let job = this.#jobs[0]; job !== undefined; job = this.#jobs[0]) {
        const { done, value } = job.news.next();
        if (done) {
          this.#jobs.shift();
          continue;
        }
        this.#tell(job, value);
        if (slice.isOver) {
          this.#pause();
          return;
        }
      }
    } finally {
      this.#draining = false;
    }
  }

  #pause(): void {
    this.#paused = true;
    this.#yieldToLoop(() => {
      this.#paused = false;
      if (!this.#stopped) this.#drain();
    });
  }

  #tell(job: Job, notification: Notification): void {
    const event = this.#eventOf(notification);
    if (job.only !== undefined) {
      if (job.only.active) this.#call(job.only.handler, event);
      return;
    }
    for (const subscription of this.#subscriptions) {
      if (subscription.from <= job.number) this.#call(subscription.handler, event);
    }
    this.#onTold(notification);
  }

  #call(handler: Handler, event: CacheEvent): void {
    try {
      const result: unknown = handler(event);
      // A handler that is an async function after all: its failure must not end the process either.
      if (result instanceof Promise) result.catch(this.#onError);
    } catch (error) {
      this.#onError(error);
    }
  }
}
