import type { CacheMetrics, ClientInstrument } from '@slipway/kube';
import { kindText } from '@slipway/kube';
import { type Counter, Gauge, type Histogram, Registry } from 'prom-client';

import type { QueueMetrics, WorkQueue } from '../queue/work-queue.ts';
import { metricsIn } from './metrics-in.ts';

export type ReconcileOutcome = 'success' | 'error' | 'requeue' | 'requeue_after';

const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const queueBuckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000];

/** One request to an API server. */
export interface RestRequest {
  method: string;
  host: string;
  code: string;
  seconds: number;
  requestBytes?: number;
  /** Absent for streams. */
  responseBytes?: number;
}

/** What one controller reports, with its labels bound once. */
export interface ControllerMetrics {
  queue: QueueMetrics;
  /** The queue whose running work is read when metrics are collected. */
  watchQueue(queue: WorkQueue): void;
  workers(count: number): void;
  workerStarted(): void;
  workerFinished(): void;
  finished(outcome: ReconcileOutcome, seconds: number): void;
  terminalError(): void;
  panic(): void;
  timeout(): void;
}

/**
 * All metrics of a manager, under the names controller-runtime uses, so that dashboards made for it work. Every manager
 * has its own registry; nothing is global.
 */
export class RuntimeMetrics {
  readonly registry: Registry;
  readonly #reconcileTotal: Counter;
  readonly #reconcileErrors: Counter;
  readonly #terminalErrors: Counter;
  readonly #panics: Counter;
  readonly #timeouts: Counter;
  readonly #reconcileTime: Histogram;
  readonly #maxConcurrent: Gauge;
  readonly #activeWorkers: Gauge;
  readonly #depth: Gauge;
  readonly #adds: Counter;
  readonly #queueDuration: Histogram;
  readonly #workDuration: Histogram;
  readonly #retries: Counter;
  readonly #masterStatus: Gauge;
  readonly #slowpath: Counter;
  readonly #restRequests: Counter;
  readonly #restDuration: Histogram;
  readonly #restRetries: Counter;
  readonly #restRequestSize: Histogram;
  readonly #restResponseSize: Histogram;
  readonly #watchRestarts: Counter;
  readonly #watchEvents: Counter;
  readonly #handlerFailures: Counter;
  readonly #ownWriteTimeouts: Counter;
  readonly #webhookLatency: Histogram;
  readonly #webhookRequests: Counter;
  readonly #webhookInFlight: Gauge;
  readonly #certificateReads: Counter;
  readonly #certificateErrors: Counter;
  readonly #queues = new Map<string, WorkQueue>();

  constructor(registry: Registry = new Registry()) {
    this.registry = registry;
    const { counter, gauge, histogram } = metricsIn(registry);

    this.#reconcileTotal = counter('controller_runtime_reconcile_total', 'Reconciliations per controller and result.', [
      'controller',
      'result',
    ]);
    this.#reconcileErrors = counter('controller_runtime_reconcile_errors_total', 'Reconciliations that failed.', [
      'controller',
    ]);
    this.#terminalErrors = counter(
      'controller_runtime_terminal_reconcile_errors_total',
      'Reconciliations that failed in a way no retry mends.',
      ['controller'],
    );
    this.#panics = counter(
      'controller_runtime_reconcile_panics_total',
      'Reconciliations that threw something that is not an error, or a programming error.',
      ['controller'],
    );
    this.#timeouts = counter('controller_runtime_reconcile_timeouts_total', 'Reconciliations over their time limit.', [
      'controller',
    ]);
    this.#reconcileTime = histogram(
      'controller_runtime_reconcile_time_seconds',
      'Length of reconciliations.',
      ['controller'],
      reconcileBuckets,
    );
    this.#maxConcurrent = gauge('controller_runtime_max_concurrent_reconciles', 'Workers of a controller.', [
      'controller',
    ]);
    this.#activeWorkers = gauge('controller_runtime_active_workers', 'Workers at work.', ['controller']);

    this.#depth = gauge('workqueue_depth', 'Keys ready for a worker.', ['name', 'controller', 'priority']);
    this.#adds = counter('workqueue_adds_total', 'Keys that became ready.', ['name', 'controller']);
    this.#queueDuration = histogram(
      'workqueue_queue_duration_seconds',
      'How long keys waited for a worker.',
      ['name', 'controller'],
      queueBuckets,
    );
    this.#workDuration = histogram(
      'workqueue_work_duration_seconds',
      'How long workers had a key.',
      ['name', 'controller'],
      queueBuckets,
    );
    this.#retries = counter('workqueue_retries_total', 'Keys added again after a failure.', ['name', 'controller']);
    const queues = this.#queues;
    new Gauge({
      name: 'workqueue_unfinished_work_seconds',
      help: 'Time spent so far on keys that workers still have.',
      labelNames: ['name', 'controller'],
      registers: [registry],
      collect() {
        for (const [name, queue] of queues) this.set({ name, controller: name }, queue.unfinishedWorkMs() / 1000);
      },
    });
    new Gauge({
      name: 'workqueue_longest_running_processor_seconds',
      help: 'The longest time a worker has had its present key.',
      labelNames: ['name', 'controller'],
      registers: [registry],
      collect() {
        for (const [name, queue] of queues) this.set({ name, controller: name }, queue.longestRunningMs() / 1000);
      },
    });

    this.#masterStatus = gauge('leader_election_master_status', '1 while this process holds the lease.', ['name']);
    this.#slowpath = counter('leader_election_slowpath_total', 'Renewals that had to read the lease first.', ['name']);

    this.#restRequests = counter('rest_client_requests_total', 'Requests to API servers.', ['code', 'method', 'host']);
    this.#restDuration = histogram(
      'rest_client_request_duration_seconds',
      'Length of requests to API servers.',
      ['verb', 'host'],
      [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    );

    const sizes = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216];
    this.#restRequestSize = histogram('rest_client_request_size_bytes', 'Size of requests.', ['verb', 'host'], sizes);
    this.#restResponseSize = histogram('rest_client_response_size_bytes', 'Size of answers.', ['verb', 'host'], sizes);
    this.#restRetries = counter(
      'rest_client_request_retries_total',
      'Requests sent again because the server said so.',
      ['code', 'verb', 'host'],
    );
    this.#watchRestarts = counter('slipway_watch_restarts_total', 'Watches begun again, by reason.', [
      'cluster',
      'kind',
      'reason',
    ]);
    this.#watchEvents = counter('slipway_watch_events_total', 'Changes of cached objects.', [
      'cluster',
      'kind',
      'type',
    ]);
    this.#handlerFailures = counter('slipway_event_handler_failures_total', 'Event handlers that threw.', [
      'cluster',
      'kind',
    ]);
    this.#ownWriteTimeouts = counter(
      'slipway_own_write_timeouts_total',
      'Reads that gave up waiting for a write of this process to reach the cache.',
      ['cluster', 'kind'],
    );

    this.#webhookLatency = histogram(
      'controller_runtime_webhook_latency_seconds',
      'Length of admission and conversion requests.',
      ['webhook'],
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    );
    this.#webhookRequests = counter('controller_runtime_webhook_requests_total', 'Webhook requests by status.', [
      'webhook',
      'code',
    ]);
    this.#webhookInFlight = gauge('controller_runtime_webhook_requests_in_flight', 'Webhook requests under way.', [
      'webhook',
    ]);
    this.#certificateReads = counter('certwatcher_read_certificate_total', 'Loads of the serving certificate.');
    this.#certificateErrors = counter(
      'certwatcher_read_certificate_errors_total',
      'Loads of the serving certificate that failed.',
    );
  }

  controller(name: string): ControllerMetrics {
    const labels = { controller: name };
    const queueLabels = { name, controller: name };
    const total: Record<ReconcileOutcome, Counter.Internal> = {
      success: this.#reconcileTotal.labels({ ...labels, result: 'success' }),
      error: this.#reconcileTotal.labels({ ...labels, result: 'error' }),
      requeue: this.#reconcileTotal.labels({ ...labels, result: 'requeue' }),
      requeue_after: this.#reconcileTotal.labels({ ...labels, result: 'requeue_after' }),
    };
    const errors = this.#reconcileErrors.labels(labels);
    const terminal = this.#terminalErrors.labels(labels);
    const panics = this.#panics.labels(labels);
    const timeouts = this.#timeouts.labels(labels);
    const time = this.#reconcileTime.labels(labels);
    const max = this.#maxConcurrent.labels(labels);
    const active = this.#activeWorkers.labels(labels);
    const depth = this.#depth;
    const depths = new Map<number, Gauge.Internal<string>>();
    const adds = this.#adds.labels(queueLabels);
    const retries = this.#retries.labels(queueLabels);
    const waited = this.#queueDuration.labels(queueLabels);
    const worked = this.#workDuration.labels(queueLabels);
    // A dashboard that divides by these needs the zeros before the first event.
    for (const counter of [...Object.values(total), errors, terminal, panics, timeouts, adds, retries]) counter.inc(0);
    active.set(0);
    return {
      queue: {
        depth(priority, change) {
          let gauge = depths.get(priority);
          if (!gauge) {
            gauge = depth.labels({ ...queueLabels, priority: String(priority) });
            depths.set(priority, gauge);
          }
          gauge.inc(change);
        },
        added: () => adds.inc(),
        retried: () => retries.inc(),
        taken: (waitedMs) => waited.observe(waitedMs / 1000),
        finished: (workedMs) => worked.observe(workedMs / 1000),
      },
      watchQueue: (queue) => void this.#queues.set(name, queue),
      workers: (count) => max.set(count),
      workerStarted: () => active.inc(),
      workerFinished: () => active.dec(),
      finished(outcome, seconds) {
        total[outcome].inc();
        if (outcome === 'error') errors.inc();
        time.observe(seconds);
      },
      terminalError: () => terminal.inc(),
      panic: () => panics.inc(),
      timeout: () => timeouts.inc(),
    };
  }

  leader(name: string): { master(is: boolean): void; slowpath(): void } {
    this.#masterStatus.set({ name }, 0);
    this.#slowpath.inc({ name }, 0);
    return {
      master: (is) => this.#masterStatus.set({ name }, is ? 1 : 0),
      slowpath: () => this.#slowpath.inc({ name }),
    };
  }

  /** One request to an API server; `code` is the HTTP status or `<error>` when there was no answer. */
  restRequest(request: RestRequest): void {
    const { method, host, code, seconds, requestBytes, responseBytes } = request;
    this.#restRequests.inc({ code, method, host });
    this.#restDuration.observe({ verb: method, host }, seconds);
    if (requestBytes !== undefined) this.#restRequestSize.observe({ verb: method, host }, requestBytes);
    if (responseBytes !== undefined) this.#restResponseSize.observe({ verb: method, host }, responseBytes);
  }

  /** Counts the requests a client had to send again. */
  clientInstrument(host: string): ClientInstrument {
    return {
      call:
        ({ verb }) =>
        ({ status, retries }) => {
          if (retries > 0) this.#restRetries.inc({ code: String(status ?? '<error>'), verb, host }, retries);
        },
    };
  }

  /** What the cache of one cluster reports as it happens. */
  cache(cluster: string): CacheMetrics {
    return {
      eventReceived: (kind, type) => this.#watchEvents.inc({ cluster, kind: kindText(kind), type }),
      watchRestarted: (kind, reason) => this.#watchRestarts.inc({ cluster, kind: kindText(kind), reason }),
      handlerFailed: (kind) => this.#handlerFailures.inc({ cluster, kind: kindText(kind) }),
      ownWriteTimedOut: (kind) => this.#ownWriteTimeouts.inc({ cluster, kind: kindText(kind) }),
    };
  }

  webhook(path: string): { started(): void; finished(code: number, seconds: number): void } {
    const labels = { webhook: path };
    return {
      started: () => this.#webhookInFlight.inc(labels),
      finished: (code, seconds) => {
        this.#webhookInFlight.dec(labels);
        this.#webhookRequests.inc({ ...labels, code: String(code) });
        this.#webhookLatency.observe(labels, seconds);
      },
    };
  }

  certificateRead(ok: boolean): void {
    this.#certificateReads.inc();
    if (!ok) this.#certificateErrors.inc();
  }
}
