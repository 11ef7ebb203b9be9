import {
  type CallOptions,
  type Client,
  type Clock,
  type DeepReadonly,
  Event,
  isNotFound,
  kubeMicroTime,
  type KubeObject,
  type Random,
  type Timer,
} from '@slipway/kube';

import type { Logger } from '../log/logger.ts';

type Reference = NonNullable<Event['regarding']>;

/** Tells people what happened to an object, where `kubectl describe` shows it. Never fails and never waits. */
export interface EventRecorder {
  /** Something went as it should. */
  normal(object: DeepReadonly<KubeObject>, reason: string, note: string, options?: EventOptions): void;
  /** Something needs a look. */
  warning(object: DeepReadonly<KubeObject>, reason: string, note: string, options?: EventOptions): void;
}

export interface EventOptions {
  /** What the controller was doing, in CamelCase. Default `Reconcile`. */
  action?: string;
  /** A second object the event is about. */
  related?: DeepReadonly<KubeObject>;
}

export interface EventSinkOptions {
  client: Client;
  clock: Clock;
  random: Random;
  log: Logger;
  /** Which process reports. Default `slipway`. */
  instance?: string;
  /** Repetitions are written together this often, in milliseconds. Default 5000. */
  flushMs?: number;
  /** A repetition after this much silence is a new event, in milliseconds. Default 6 min. */
  seriesMs?: number;
  /** Different events about one object that may come at once; then one in five minutes. Default 25. */
  burstPerObject?: number;
}

/** Who records, and until when. */
interface Reporter {
  readonly controller: string;
  /** Asked at the moment of sending. */
  readonly beforeWrite: (() => void) | undefined;
}

interface Series {
  event: Event;
  readonly reporter: Reporter;
  count: number;
  lastSeen: number;
  /** Repetitions the server has not been told of. */
  dirty: boolean;
  created: boolean;
}

interface Allowance {
  tokens: number;
  at: number;
}

const backlogLimit = 1000;
const refillMs = 300_000;

/** Writes events to one cluster, repetitions as a series of one event. */
export class EventSink {
  readonly #options: Required<EventSinkOptions>;
  readonly #series = new Map<string, Series>();
  readonly #allowances = new Map<string, Allowance>();
  #backlog = 0;
  #writes: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;
  #closed = false;

  constructor(options: EventSinkOptions) {
    this.#options = { instance: 'slipway', flushMs: 5000, seriesMs: 360_000, burstPerObject: 25, ...options };
  }

  /**
   * A recorder that reports as `controller`. `beforeWrite` throws when nothing may be written: a leader that slept does not tell
   * what it did before somebody else took over, either.
   */
  recorder(controller: string, beforeWrite?: () => void): EventRecorder {
    const reporter: Reporter = { controller, beforeWrite };
    const record =
      (type: 'Normal' | 'Warning'): EventRecorder['normal'] =>
      (object, reason, note, options = {}) =>
        this.#record(reporter, type, object, reason, note, options);
    return { normal: record('Normal'), warning: record('Warning') };
  }

  /** Writes everything that has been recorded so far. */
  async flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const [key, series] of this.#series) {
      if (series.dirty) this.#writeSeries(series);
      else if (this.#options.clock.now() - series.lastSeen > this.#options.seriesMs) this.#series.delete(key);
    }
    this.#armTimer();
    await this.#writes;
  }

  /** Writes what is left and takes no more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
    this.#timer?.cancel();
    this.#series.clear();
  }

  /** Takes no more and forgets what has not been written. */
  abandon(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#series.clear();
  }

  #record(
    reporter: Reporter,
    type: 'Normal' | 'Warning',
    object: DeepReadonly<KubeObject>,
    reason: string,
    note: string,
    options: EventOptions,
  ): void {
    if (this.#closed) return;
    const { clock } = this.#options;
    const { controller } = reporter;
    const regarding = referenceTo(object);
    const related = options.related ? referenceTo(options.related) : undefined;
    const action = options.action ?? 'Reconcile';
    const key = [controller, type, reason, action, note, identity(regarding), related && identity(related)].join('\n');
    const now = clock.now();
    const known = this.#series.get(key);
    if (known && now - known.lastSeen <= this.#options.seriesMs) {
      known.count += 1;
      known.lastSeen = now;
      known.dirty = true;
      this.#armTimer();
      return;
    }
    if (!this.#allow(`${controller}\n${identity(regarding)}`, now) || this.#backlog >= backlogLimit) {
      this.#options.log.debug('event dropped: too many', { reason, regarding: regarding.name });
      return;
    }
    const event: Event = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: {
        name: this.#nameFor(regarding.name ?? 'unnamed'),
        namespace: regarding.namespace ?? 'default',
      },
      eventTime: kubeMicroTime(now),
      type,
      reason: clip(reason, 128),
      action: clip(action, 128),
      note: clip(note, 1024),
      regarding,
      ...(related ? { related } : {}),
      reportingController: controller,
      reportingInstance: clip(this.#options.instance, 128),
    };
    const series: Series = { event, reporter, count: 1, lastSeen: now, dirty: false, created: false };
    this.#series.set(key, series);
    this.#enqueue(series, async () => {
      await this.#options.client.create(event, sending(series));
      series.created = true;
    });
    this.#armTimer();
  }

  #writeSeries(series: Series): void {
    series.dirty = false;
    const body = { series: { count: series.count, lastObservedTime: kubeMicroTime(series.lastSeen) } };
    const { client } = this.#options;
    const { name = '', namespace } = series.event.metadata;
    this.#enqueue(series, async () => {
      if (!series.created) {
        await client.create({ ...series.event, ...body }, sending(series));
        series.created = true;
        return;
      }
      try {
        await client.patch(Event, { namespace, name }, { type: 'merge', body }, sending(series));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        // Events expire after an hour or so; the series goes on under a new one.
        series.event = {
          ...series.event,
          metadata: { ...series.event.metadata, name: this.#nameFor(series.event.regarding?.name ?? 'unnamed') },
        };
        await client.create({ ...series.event, ...body }, sending(series));
      }
    });
  }

  #enqueue(series: Series, write: () => Promise<void>): void {
    this.#backlog += 1;
    this.#writes = this.#writes.then(async () => {
      try {
        await write();
      } catch (error) {
        const { reason, regarding } = series.event;
        this.#options.log.warn('could not write an event', { reason, regarding: regarding?.name, error });
      } finally {
        this.#backlog -= 1;
      }
    });
  }

  #nameFor(object: string): string {
    const suffix = this.#options.random.uuid().replaceAll('-', '').slice(0, 16);
    return `${object.slice(0, 253 - 17)}.${suffix}`;
  }

  #allow(key: string, now: number): boolean {
    const { burstPerObject } = this.#options;
    const allowance = this.#allowances.get(key) ?? { tokens: burstPerObject, at: now };
    allowance.tokens = Math.min(burstPerObject, allowance.tokens + (now - allowance.at) / refillMs);
    allowance.at = now;
    this.#allowances.delete(key);
    this.#allowances.set(key, allowance);
    if (this.#allowances.size > 4096) this.#allowances.delete(this.#allowances.keys().next().value!);
    if (allowance.tokens < 1) return false;
    allowance.tokens -= 1;
    return true;
  }

  #armTimer(): void {
    if (this.#timer || this.#closed || this.#series.size === 0) return;
    this.#timer = this.#options.clock.schedule(this.#options.flushMs, () => {
      this.#timer = undefined;
      void this.flush();
    });
  }
}

function sending({ reporter: { beforeWrite } }: Series): CallOptions {
  return beforeWrite ? { beforeSend: beforeWrite } : {};
}

function referenceTo(object: DeepReadonly<KubeObject>): Reference {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    name,
    ...(namespace ? { namespace } : {}),
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
  };
}

/** Which object it is; its version does not matter, or nothing would ever repeat. */
function identity(reference: Reference): string {
  const { apiVersion, kind, namespace = '', name, uid = '' } = reference;
  return `${apiVersion}/${kind}/${namespace}/${name}/${uid}`;
}

function clip(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}
