import { setMaxListeners } from 'node:events';

import {
  type CacheEvent,
  type Clock,
  type Informer,
  type InformerScope,
  isConflict,
  isConnectionFailure,
  keyText,
  type Kind,
  type ObjectKey,
  parseKey,
  type Random,
  timeLimit,
  type Timer,
  TimeSlice,
  yieldToLoop,
} from '@slipway/kube';
import {
  type Context,
  context as activeContext,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';

import type { EventRecorder } from '../events/event-recorder.ts';
import type { Logger } from '../log/logger.ts';
import { type ClusterView, clusterNamed, mainCluster } from '../cluster/cluster-view.ts';
import type { ControllerMetrics, ReconcileOutcome, RuntimeMetrics } from '../metrics/runtime-metrics.ts';
import { lowPriority, type QueueItem, WorkQueue } from '../queue/work-queue.ts';
import { type Binding, BoundClient } from './bound-client.ts';
import type { Controller, Reconcile, ReconcileContext } from './controller.ts';
import { withFinalizer } from './finalizing.ts';
import { ownersOf } from './owner-mapping.ts';
import { ReconcileTimeoutError, type Requeue, TerminalError } from './result.ts';
import { enqueueAll, subscribe, type Subscription } from './subscription.ts';

/** What a controller needs from its manager. */
export interface ControllerEnvironment {
  clusters: ReadonlyMap<string, ClusterView>;
  clock: Clock;
  random: Random;
  log: Logger;
  metrics: RuntimeMetrics;
  tracer: Tracer;
  events: EventRecorder;
  /** Throws when this process does not lead at this moment: no reconciliation of the controller may write then. */
  beforeWrite?: (() => void) | undefined;
}

/** How long after its return, on average, the API server is asked again by those it could not be reached for. */
const afterReturnMs = 1000;

interface Run {
  readonly key: string;
  readonly end: AbortController;
}

/**
 * A controller at work. `declare` tells the caches what it reads, `startSources` lets changes fill the queue (also while
 * another process leads), `startWorkers` begins to reconcile, `stop` ends it.
 */
export class RunningController {
  readonly controller: Controller;
  readonly queue: WorkQueue;
  readonly #environment: ControllerEnvironment;
  readonly #cluster: ClusterView;
  readonly #log: Logger;
  readonly #metrics: ControllerMetrics;
  readonly #reconcile: Reconcile;
  /** Everything it reads; `#subscriptions` are those whose changes make work. */
  readonly #informers: Informer[] = [];
  readonly #subscriptions: Subscription[] = [];
  readonly #undo: (() => void)[] = [];
  readonly #sourcesEnd = new AbortController();
  readonly #slice: TimeSlice;
  /** What each worker is doing; a slot per worker. */
  readonly #runs: (Run | undefined)[] = [];
  /** Keys whose last run failed because the API server could not be reached. */
  readonly #cutOff = new Set<string>();
  #own: Informer | undefined;
  #workers: Promise<void>[] = [];
  #resyncTimer: Timer | undefined;

  constructor(controller: Controller, environment: ControllerEnvironment) {
    this.controller = controller;
    this.#environment = environment;
    this.#slice = new TimeSlice(environment.clock);
    this.#cluster = this.#clusterNamed(controller.cluster ?? mainCluster);
    this.#log = environment.log.with({ controller: controller.name });
    this.#metrics = environment.metrics.controller(controller.name);
    this.#metrics.workers(controller.concurrency);
    this.queue = new WorkQueue({
      clock: environment.clock,
      rateLimiter: controller.rateLimiter?.(environment.clock),
      metrics: this.#metrics.queue,
    });
    this.#metrics.watchQueue(this.queue);
    const { finalize, reconcile } = controller;
    this.#reconcile = finalize ? withFinalizer(controller.for, finalize, reconcile) : reconcile;
  }

  /** Tells the caches which kinds the controller needs. */
  declare(): void {
    const { controller } = this;
    const inform = (kind: Kind, scope: InformerScope | undefined, cluster?: string): Informer => {
      const informer = this.#clusterNamed(cluster).cache.informer(kind, scope);
      this.#informers.push(informer);
      return informer;
    };
    // What is read is wanted whole, also of kinds that are otherwise cached without their data.
    this.#own = inform(controller.for, { metadataOnly: false, ...controller.scope });
    this.#subscriptions.push({
      informer: this.#own,
      predicates: controller.predicates,
      keysOf: (event) => [event.key],
    });
    for (const { kind, scope, predicates = [] } of controller.owns) {
      const informer = inform(kind, scope);
      this.#subscriptions.push({ informer, predicates, keysOf: (event) => ownersOf(event, controller.for) });
    }
    for (const watch of controller.watches) {
      const { kind, scope, cluster, predicates = [] } = watch;
      const informer = inform(kind, scope, cluster);
      const keysOf = (event: CacheEvent) => watch.map(event, { cache: this.#cluster.cache });
      this.#subscriptions.push({ informer, predicates, keysOf });
    }
    for (const { kind, scope, cluster } of controller.reads) inform(kind, { metadataOnly: false, ...scope }, cluster);
  }

  /** Resolves when everything the controller reads has been loaded once. */
  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.whenSynced(signal)));
  }

  /** Keys that are being reconciled. */
  get runningKeys(): string[] {
    return this.#runs.flatMap((run) => run?.key ?? []);
  }

  /** Lets events fill the queue. Nothing is reconciled yet. */
  startSources(): void {
    for (const subscription of this.#subscriptions) {
      this.#undo.push(subscribe(subscription, (key, event) => this.#enqueue(key, event), this.#log));
    }
    for (const source of this.controller.sources) {
      const { clock, random } = this.#environment;
      const end = source.start((key, options) => this.queue.add(keyText(key), options), {
        clock,
        random,
        log: this.#log,
        cluster: this.#cluster,
        signal: this.#sourcesEnd.signal,
      });
      if (end) this.#undo.push(end);
    }
    const { reachability } = this.#cluster;
    if (reachability) this.#undo.push(reachability.onReturn(() => this.#wakeCutOff()));
    this.#armResync();
  }

  /** Begins to reconcile. */
  startWorkers(): void {
    this.#slice.renew();
    this.#log.info('starting workers', { count: this.controller.concurrency });
    this.#workers = Array.from({ length: this.controller.concurrency }, (_, worker) => this.#work(worker));
  }

  /** No more events; what is queued stays. */
  stopSources(): void {
    this.#sourcesEnd.abort();
    this.#resyncTimer?.cancel();
    for (const undo of this.#undo.splice(0)) undo();
  }

  /** Works off the queue and waits for what is running. */
  async drain(): Promise<void> {
    this.queue.shutDown();
    if (this.#workers.length > 0) await Promise.all([this.queue.idle(), ...this.#workers]);
  }

  /** Drops the queue and aborts what is running. */
  abort(reason: Error): void {
    this.stopSources();
    this.queue.shutDown({ drain: false });
    for (const run of this.#runs) run?.end.abort(reason);
  }

  #clusterNamed(name: string = this.#cluster.name): ClusterView {
    return clusterNamed(this.#environment.clusters, name, `controller '${this.controller.name}'`);
  }

  #enqueue(key: ObjectKey, event: CacheEvent): void {
    this.queue.add(keyText(key), { priority: event.initial ? lowPriority : 0, cause: this.#traceEvent(event) });
  }

  /** A moment in the trace for the event itself; what it causes hangs below it. */
  #traceEvent(event: CacheEvent): SpanContext | undefined {
    const { tracer, clock } = this.#environment;
    const now = clock.now();
    const span = tracer.startSpan('watch event', { kind: SpanKind.CONSUMER, startTime: now, root: true });
    if (!span.isRecording()) return undefined;
    span.setAttributes({
      'slipway.controller': this.controller.name,
      'slipway.event': event.type,
      'slipway.initial': event.initial,
      'k8s.object': keyText(event.key),
    });
    span.end(now);
    return span.spanContext();
  }

  #armResync(): void {
    const { resyncMs } = this.controller;
    if (resyncMs === 0 || this.#sourcesEnd.signal.aborted) return;
    const { clock, random } = this.#environment;
    this.#resyncTimer = clock.schedule(resyncMs * (0.9 + 0.2 * random.next()), () => {
      void this.#resync().then(() => this.#armResync());
    });
  }

  #resync(): Promise<void> {
    const { clock } = this.#environment;
    const enqueue = (key: ObjectKey): void => this.queue.add(keyText(key), { priority: lowPriority });
    return enqueueAll(this.#own!, enqueue, { clock, signal: this.#sourcesEnd.signal });
  }

  /** That they failed says nothing about them, so it is forgotten. They are spread, so that they do not all come at once. */
  #wakeCutOff(): void {
    const { random } = this.#environment;
    const running = new Set(this.runningKeys);
    for (const key of this.#cutOff) {
      this.queue.forget(key);
      if (!running.has(key)) this.queue.add(key, { afterMs: afterReturnMs * (0.5 + random.next()) });
    }
    this.#cutOff.clear();
  }

  async #work(worker: number): Promise<void> {
    for (;;) {
      const item = await this.queue.take();
      if (!item) return;
      this.#metrics.workerStarted();
      try {
        await this.#run(item, worker);
      } finally {
        this.#metrics.workerFinished();
        this.queue.done(item);
      }
      // Reconciliations that wait for nothing follow each other without a turn of the event loop; leases and probes need one.
      if (this.#slice.isOver) {
        await new Promise<void>(yieldToLoop);
        this.#slice.renew();
      }
    }
  }

  async #run(item: QueueItem, worker: number): Promise<void> {
    const { clock, random, tracer } = this.#environment;
    const { reconcileTimeoutMs } = this.controller;
    const key = parseKey(item.key);
    const reconcileId = random.uuid();
    const startedAt = clock.now();
    const identity = {
      kind: this.controller.for.kind,
      ...(key.namespace ? { namespace: key.namespace } : {}),
      name: key.name,
      reconcileID: reconcileId,
    };
    const log = loggerOnDemand(() => this.#log.with(identity));
    const end = new AbortController();
    this.#runs[worker] = { key: item.key, end };
    using limit =
      reconcileTimeoutMs === undefined
        ? undefined
        : timeLimit(clock, reconcileTimeoutMs, {
            signal: end.signal,
            error: () => {
              this.#metrics.timeout();
              return new ReconcileTimeoutError(reconcileTimeoutMs);
            },
          });
    const signal = limit?.signal ?? end.signal;
    // Every request of the reconciliation listens to it; there is no leak to be warned of.
    setMaxListeners(0, signal);
    const { span, spanContext } = this.#startSpan(tracer, item, reconcileId, startedAt);
    let outcome: ReconcileOutcome = 'success';
    try {
      const { beforeWrite } = this.#environment;
      const binding: Binding = { signal, tracer, parent: spanContext, clock, beforeWrite };
      const context: ReconcileContext = {
        cache: this.#cluster.cache,
        client: new BoundClient(this.#cluster.client, binding),
        log,
        clock,
        random,
        signal,
        events: this.#environment.events,
        reconcileId,
        failures: this.queue.failures(item.key),
        metrics: this.#environment.metrics.registry,
        cluster: (name) => {
          const { client, ...rest } = this.#clusterNamed(name);
          return { ...rest, client: new BoundClient(client, binding) };
        },
      };
      const result = await activeContext.with(spanContext, async () => this.#reconcile(context, key));
      this.#cutOff.delete(item.key);
      outcome = this.#settle(item, result ?? undefined);
    } catch (thrown) {
      outcome = 'error';
      const timedOut = limit?.isOver === true;
      const error =
        timedOut && signal.reason !== thrown ? new Error(String(signal.reason.message), { cause: thrown }) : thrown;
      this.#fail(item, error, log, signal.aborted && !timedOut);
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
    } finally {
      this.#runs[worker] = undefined;
      const now = clock.now();
      span.setAttribute('slipway.result', outcome);
      span.end(now);
      this.#metrics.finished(outcome, (now - startedAt) / 1000);
      this.#log.debug('reconciled', { ...identity, result: outcome, ms: now - startedAt });
    }
  }

  #startSpan(
    tracer: Tracer,
    item: QueueItem,
    reconcileId: string,
    startedAt: number,
  ): { span: Span; spanContext: Context } {
    const [cause, ...further] = item.causes as SpanContext[];
    const parent = cause ? trace.setSpanContext(ROOT_CONTEXT, cause) : ROOT_CONTEXT;
    const span = tracer.startSpan(
      `reconcile ${this.controller.name}`,
      {
        startTime: item.readyAt,
        links: further.map((context) => ({ context })),
        attributes: {
          'slipway.controller': this.controller.name,
          'slipway.reconcile_id': reconcileId,
          'slipway.priority': item.priority,
          'k8s.kind': this.controller.for.kind,
          'k8s.object': item.key,
        },
      },
      parent,
    );
    // Without a tracing SDK there is no trace, and nothing to carry along.
    if (!isSpanContextValid(span.spanContext())) return { span, spanContext: ROOT_CONTEXT };
    const spanContext = trace.setSpan(ROOT_CONTEXT, span);
    tracer.startSpan('queue wait', { startTime: item.readyAt }, spanContext).end(startedAt);
    return { span, spanContext };
  }

  #settle(item: QueueItem, result: Requeue | undefined): ReconcileOutcome {
    if (!result) {
      this.queue.forget(item.key);
      return 'success';
    }
    if (result.afterMs === undefined) {
      this.queue.addRateLimited(item.key, { priority: item.priority });
      return 'requeue';
    }
    this.queue.forget(item.key);
    this.queue.add(item.key, { priority: item.priority, afterMs: result.afterMs });
    return 'requeue_after';
  }

  #fail(item: QueueItem, error: unknown, log: Logger, stopping: boolean): void {
    if (stopping) {
      log.info('reconciliation ended early', { error });
      return;
    }
    if (isConnectionFailure(error)) this.#cutOff.add(item.key);
    else this.#cutOff.delete(item.key);
    if (isPanic(error)) this.#metrics.panic();
    if (error instanceof TerminalError) {
      this.#metrics.terminalError();
      this.queue.forget(item.key);
      log.error('reconciliation failed for good, until something changes', { error });
      return;
    }
    this.queue.addRateLimited(item.key, { priority: item.priority });
    if (isConflict(error)) log.info('the object changed meanwhile; trying again', { error });
    else log.error('reconciliation failed; trying again', { error, failures: this.queue.failures(item.key) });
  }
}

/** Most reconciliations log nothing: their logger is made with the first line. */
function loggerOnDemand(make: () => Logger): Logger {
  let made: Logger | undefined;
  const logger = () => (made ??= make());
  return {
    debug: (message, fields) => logger().debug(message, fields),
    info: (message, fields) => logger().info(message, fields),
    warn: (message, fields) => logger().warn(message, fields),
    error: (message, fields) => logger().error(message, fields),
    with: (fields) => logger().with(fields),
  };
}

/** What Go would call a panic: something thrown that is no error, or the error of a programming mistake. */
function isPanic(error: unknown): boolean {
  return !(error instanceof Error) || error instanceof TypeError || error instanceof ReferenceError;
}
