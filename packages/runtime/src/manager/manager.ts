import { hostname } from 'node:os';
import { MessageChannel } from 'node:worker_threads';

import {
  abortable,
  type Clock,
  findConnection,
  kindText,
  type Random,
  systemClock,
  systemRandom,
  timeLimit,
} from '@slipway/kube';
import { trace, type Tracer } from '@opentelemetry/api';
import type { Registry } from 'prom-client';

import type { Controller, ControllerLease } from '../controller/controller.ts';
import { RunningController } from '../controller/running-controller.ts';
import { EventSink } from '../events/event-recorder.ts';
import { createLogger } from '../log/create-logger.ts';
import type { Logger } from '../log/logger.ts';
import { addCacheMetrics } from '../cluster/cache-metrics.ts';
import { addEventLoopMetrics } from '../metrics/event-loop-metrics.ts';
import { RuntimeMetrics } from '../metrics/runtime-metrics.ts';
import { RunningWebhooks, type WebhookOptions } from '../webhooks/running-webhooks.ts';
import { type ClusterView, clusterNamed, mainCluster } from '../cluster/cluster-view.ts';
import { answerProbe, type HealthCheck } from '../http/health.ts';
import {
  type PlainAnswer,
  type PlainRequest,
  type RunningServer,
  type ServerAddress,
  serveHttp,
} from '../http/http-server.ts';
import { MetricsAccess } from '../http/metrics-access.ts';
import { catchUncaught } from './last-resort.ts';
import { LeaderElector, type LeaderElectionOptions, LeadershipLostError } from './leader-elector.ts';
import { type ClusterTarget, type OpenCluster, openCluster } from '../cluster/open-cluster.ts';

export interface ManagerOptions {
  controllers?: readonly Controller[];
  /** Field manager of its writes, name of its Lease. Default: the name of the first controller. */
  name?: string;
  /** The cluster to work on. Default: in-cluster configuration or the kubeconfig. */
  cluster?: ClusterTarget;
  /** Further clusters by name. */
  clusters?: Readonly<Record<string, ClusterTarget>>;
  /** Run controllers only while holding a Lease. Default false. */
  leaderElection?: boolean | LeaderElectionOptions;
  webhooks?: WebhookOptions;
  /** Where `/healthz` and `/readyz` are served. Default false: nowhere. */
  health?: HealthOptions | false;
  /** Where `/metrics` is served, and to whom. Default false: nowhere. */
  metrics?: MetricsOptions | false;
  /** How long running reconciliations may go on after `stop`, in milliseconds. Default 30 000. */
  gracefulStopMs?: number;
  /** Process signals that stop the manager; `true`: SIGINT and SIGTERM. Default false. */
  signals?: boolean | readonly NodeJS.Signals[];
  /**
   * Whether an error nobody caught, in a listener, a callback or a timer, ends the manager the orderly way: logged with its
   * stack, drained, the lease given up, `stopped` rejected, exit code 1. For programs that are nothing but the manager. Default
   * false: the process dies where it stands.
   */
  lastResort?: boolean;
  /** Stops the manager when it aborts. */
  signal?: AbortSignal;
  /** Default: JSON lines on standard error, readable ones when that is a terminal. */
  log?: Logger;
  /** Default: the machine's. */
  clock?: Clock;
  /** Default: the machine's. */
  random?: Random;
  /** Default: the tracer of the OpenTelemetry SDK the program has set up, if any. */
  tracer?: Tracer;
  /** Where metrics are registered. Default: a registry of its own. */
  registry?: Registry;
}

export interface HealthOptions extends ServerAddress {
  /** Further checks of `/healthz`. */
  live?: Readonly<Record<string, HealthCheck>>;
  /** Further checks of `/readyz`. */
  ready?: Readonly<Record<string, HealthCheck>>;
}

export interface MetricsOptions extends ServerAddress {
  /**
   * Serve only those whose bearer token the API server knows and allows to `get` the path `/metrics`; needs the permissions in
   * {@link metricsAccessRules}. Default false: whoever reaches the port.
   */
  requireToken?: boolean;
}

/** Controllers at work. Dispose of it, or call `stop`, to end them. */
export interface Manager extends AsyncDisposable {
  readonly name: string;
  /** Resolves when every kind is loaded and webhooks serve; a standby is ready too. Rejects when the manager stops before. */
  readonly ready: Promise<void>;
  /** Resolves when this process leads (at once without leader election). Rejects when the manager stops before. */
  readonly elected: Promise<void>;
  /** Resolves after `stop`; rejects when the manager had to end by itself, such as for a lost lease. */
  readonly stopped: Promise<void>;
  readonly registry: Registry;
  /** Ports that were taken. */
  readonly ports: { readonly health?: number; readonly metrics?: number; readonly webhooks?: number };
  /** A cluster by name. Default: `main`. */
  cluster(name?: string): ClusterView;
  /** Sources, then queues and running reconciliations (`gracefulStopMs`), events, caches, the lease, servers last. */
  stop(): Promise<void>;
}

/**
 * Starts controllers: servers for probes and metrics first, then webhooks, caches, controllers that need no leader,
 * election, and at last the controllers of the leader. Resolves as soon as the servers listen; see `ready`.
 */
export async function startManager(options: ManagerOptions): Promise<Manager> {
  const manager = new RunningManager(options);
  try {
    await manager.open();
  } catch (error) {
    await manager.stop();
    throw error;
  }
  return manager;
}

class RunningManager implements Manager {
  readonly name: string;
  readonly ready: Promise<void>;
  readonly elected: Promise<void>;
  readonly stopped: Promise<void>;
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #tracer: Tracer;
  readonly #metrics: RuntimeMetrics;
  readonly #readyState = Promise.withResolvers<void>();
  readonly #electedState = Promise.withResolvers<void>();
  readonly #stoppedState = Promise.withResolvers<void>();
  readonly #end = new AbortController();
  readonly #open: OpenCluster[] = [];
  readonly #clusters = new Map<string, ClusterView>();
  readonly #servers: RunningServer[] = [];
  readonly #undo: (() => void)[] = [];
  #controllers: RunningController[] = [];
  #webhooks: RunningWebhooks | undefined;
  #events: EventSink | undefined;
  #elector: LeaderElector | undefined;
  /** Of the leases that single controllers need besides, by `leaseText`. */
  readonly #furtherElectors = new Map<string, LeaderElector>();
  #ports: { health?: number; metrics?: number } = {};
  #stopping: Promise<void> | undefined;

  constructor(options: ManagerOptions) {
    const controllers = options.controllers ?? [];
    const names = new Set<string>();
    for (const { name } of controllers) {
      if (names.has(name)) throw new Error(`startManager: two controllers are called '${name}'`);
      names.add(name);
    }
    this.#options = options;
    this.name = options.name ?? controllers[0]?.name ?? 'slipway';
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#log = options.log ?? createLogger({ clock: this.#clock });
    this.#tracer = options.tracer ?? trace.getTracer('@slipway/runtime');
    this.#metrics = new RuntimeMetrics(options.registry);
    this.ready = this.#readyState.promise;
    this.elected = this.#electedState.promise;
    this.stopped = this.#stoppedState.promise;
    // Nobody has to await any of them.
    for (const promise of [this.ready, this.elected, this.stopped]) promise.catch(() => undefined);
  }

  get registry(): Registry {
    return this.#metrics.registry;
  }

  get ports(): Manager['ports'] {
    return { ...this.#ports, ...(this.#webhooks ? { webhooks: this.#webhooks.port } : {}) };
  }

  cluster(name: string = mainCluster): ClusterView {
    return clusterNamed(this.#clusters, name, `manager '${this.name}'`);
  }

  /** Everything that can fail because of what the caller passed; the rest goes on in the background. */
  async open(): Promise<void> {
    this.#keepProcessAlive();
    await this.#openClusters();
    this.#events = new EventSink({
      client: this.cluster().client,
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      instance: `${this.name}-${hostname()}`,
    });
    const environment = {
      clusters: this.#clusters,
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      metrics: this.#metrics,
      tracer: this.#tracer,
    };
    this.#controllers = (this.#options.controllers ?? []).map((controller) => {
      const beforeWrite = controller.needsLeader ? () => this.#assertLeading(controller) : undefined;
      const events = this.#events!.recorder(controller.name, beforeWrite);
      return new RunningController(controller, { ...environment, events, beforeWrite });
    });
    for (const controller of this.#controllers) controller.declare();
    this.#elector = this.#makeElector();
    for (const { controller } of this.#controllers) {
      const { lease } = controller;
      if (!lease || this.#furtherElectors.has(leaseText(lease))) continue;
      const elector = this.#makeElector(lease);
      if (elector) this.#furtherElectors.set(leaseText(lease), elector);
    }
    if (this.#options.webhooks) {
      this.#webhooks = new RunningWebhooks(this.#options.webhooks, { ...environment, cluster: this.cluster() });
    }
    await this.#startServers();
    this.#listenForTheEnd();
    this.#boot().catch((error: unknown) => void this.#finish(error));
  }

  stop(): Promise<void> {
    return this.#finish(undefined);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** The start order matters: a conversion webhook has to answer before a cache can load what it converts. */
  async #boot(): Promise<void> {
    await this.#webhooks?.start(this.#end.signal);
    for (const { cache } of this.#clusters.values()) cache.start();
    for (const controller of this.#controllers) controller.startSources();
    const [free, led] = [false, true].map((needed) =>
      this.#controllers.filter((running) => running.controller.needsLeader === needed),
    ) as [RunningController[], RunningController[]];
    for (const controller of free) void this.#startWhenSynced(controller);
    const start = (lease: string | undefined): void => {
      for (const running of led) if (this.#furtherLease(running) === lease) void this.#startWhenSynced(running);
    };
    const lead = (): void => {
      this.#electedState.resolve();
      start(undefined);
      for (const [lease, elector] of this.#furtherElectors) elector.start({ onElected: () => start(lease), onLost });
    };
    const onLost = (error: LeadershipLostError): void => {
      // At once, also in the middle of a stop: somebody else leads by now.
      for (const controller of led) controller.abort(error);
      void this.#finish(error);
    };
    if (this.#elector) this.#elector.start({ onElected: lead, onLost });
    else lead();
    await Promise.all(this.#controllers.map((controller) => controller.whenSynced(this.#end.signal)));
    this.#readyState.resolve();
  }

  /** The lease a controller waits for besides the one of the manager. */
  #furtherLease({ controller }: RunningController): string | undefined {
    const lease = controller.lease && leaseText(controller.lease);
    return lease !== undefined && this.#furtherElectors.has(lease) ? lease : undefined;
  }

  #assertLeading({ lease }: Controller): void {
    this.#elector?.assertLeading();
    if (lease) this.#furtherElectors.get(leaseText(lease))?.assertLeading();
  }

  async #startWhenSynced(controller: RunningController): Promise<void> {
    try {
      await controller.whenSynced(this.#end.signal);
    } catch {
      return;
    }
    controller.startWorkers();
  }

  async #openClusters(): Promise<void> {
    const environment = {
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      metrics: this.#metrics,
      fieldManager: this.name,
    };
    const targets: [string, ClusterTarget | undefined][] = [
      [mainCluster, this.#options.cluster],
      ...Object.entries(this.#options.clusters ?? {}),
    ];
    for (const [name, target] of targets) {
      if (this.#clusters.has(name)) throw new Error(`startManager: clusters: the name '${name}' is taken`);
      const open = openCluster(name, target ?? { connection: await findConnection() }, environment);
      this.#open.push(open);
      this.#clusters.set(name, open.cluster);
    }
    addCacheMetrics(this.registry, this.#clusters, this.#clock);
  }

  #makeElector(lease?: ControllerLease): LeaderElector | undefined {
    const { leaderElection = false } = this.#options;
    if (leaderElection === false && !lease?.always) return undefined;
    const place = lease && { namespace: lease.namespace, name: lease.name };
    const chosen = { ...(typeof leaderElection === 'boolean' ? {} : leaderElection), ...place };
    const main = this.#open[0]!;
    const name = chosen.name ?? this.name;
    return new LeaderElector({
      ...chosen,
      name,
      namespace: chosen.namespace ?? main.namespace,
      identity: chosen.identity ?? `${hostname()}_${this.#random.uuid()}`,
      client: main.leaseClient(),
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      metrics: this.#metrics.leader(name),
    });
  }

  async #startServers(): Promise<void> {
    const { health = false, metrics = false } = this.#options;
    if (health) {
      const live = new Map<string, HealthCheck>([['ping', () => undefined]]);
      if (this.#electors().length > 0) live.set('leader-election', () => this.#checkElectors());
      for (const [name, check] of Object.entries(health.live ?? {})) live.set(name, check);
      const probes = { healthz: live, readyz: () => this.#readyChecks(health) };
      const server = await serveHttp(health, ({ path }) => answerProbe(path, probes), this.#log);
      this.#servers.push(server);
      this.#ports.health = server.port;
    }
    if (metrics) {
      this.#undo.push(addEventLoopMetrics(this.registry));
      const access = metrics.requireToken ? new MetricsAccess(this.cluster().client, this.#clock) : undefined;
      const server = await serveHttp(metrics, (request) => this.#answerMetrics(request, access), this.#log);
      this.#servers.push(server);
      this.#ports.metrics = server.port;
    }
  }

  async #answerMetrics(request: PlainRequest, access: MetricsAccess | undefined): Promise<PlainAnswer> {
    if (request.path !== '/metrics') return { status: 404, body: 'try /metrics\n' };
    const refusal = await access?.refusal(request);
    return refusal ?? { status: 200, contentType: this.registry.contentType, body: await this.registry.metrics() };
  }

  #electors(): LeaderElector[] {
    return [...(this.#elector ? [this.#elector] : []), ...this.#furtherElectors.values()];
  }

  #checkElectors(): void {
    if (this.#electors().some((elector) => !elector.healthy)) throw new Error('leading, but the lease has run out');
  }

  /** One check per declared kind, so that the line of a kind that does not load says which and why. */
  #readyChecks(health: HealthOptions): Map<string, HealthCheck> {
    const checks = new Map<string, HealthCheck>();
    checks.set('manager', () => {
      if (this.#stopping) throw new Error('stopping');
    });
    if (this.#webhooks) checks.set('webhooks', () => this.#webhooks!.check());
    for (const { name: clusterName, cache } of this.#clusters.values()) {
      for (const { kind, synced, problem, denied } of cache.status()) {
        checks.set(`cache/${clusterName}/${kindText(kind)}`, () => {
          if (!synced || denied) throw new Error(problem ?? 'not loaded yet');
        });
      }
    }
    for (const [name, check] of Object.entries(health.ready ?? {})) checks.set(name, check);
    return checks;
  }

  /** Timers and idle sockets do not keep a process alive; a manager that waits for its server to come back has to. */
  #keepProcessAlive(): void {
    const { port1, port2 } = new MessageChannel();
    port1.on('message', () => undefined);
    port1.ref();
    this.#undo.push(() => {
      port1.close();
      port2.close();
    });
  }

  #listenForTheEnd(): void {
    const { signals = false, lastResort = false, signal } = this.#options;
    if (lastResort) this.#undo.push(catchUncaught(this.#log, (error) => void this.#finish(error)));
    const names = signals === true ? (['SIGINT', 'SIGTERM'] as const) : signals === false ? [] : signals;
    for (const name of names) {
      const onSignal = (): void => {
        this.#log.info('stopping', { signal: name });
        void this.stop();
      };
      // Once: a second signal ends the process the hard way.
      process.once(name, onSignal);
      this.#undo.push(() => void process.off(name, onSignal));
    }
    if (!signal) return;
    const onAbort = (): void => void this.stop();
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    this.#undo.push(() => signal.removeEventListener('abort', onAbort));
  }

  #finish(failure: unknown): Promise<void> {
    this.#stopping ??= this.#shutDown(failure);
    return this.#stopping;
  }

  async #shutDown(failure: unknown): Promise<void> {
    const reason = failure instanceof Error ? failure : new Error('the manager was stopped');
    if (failure !== undefined) this.#log.error('the manager has to end', { error: failure });
    this.#end.abort(reason);
    this.#readyState.reject(reason);
    this.#electedState.reject(reason);
    for (const controller of this.#controllers) controller.stopSources();
    if (failure instanceof LeadershipLostError) {
      // Nothing more may be written.
      for (const controller of this.#controllers) controller.abort(reason);
      this.#events?.abandon();
    } else {
      await this.#drain(reason);
      await this.#within(5000, this.#events?.close(), 'events were not written');
    }
    await Promise.all([...this.#clusters.values()].map(({ cache }) => cache.stop()));
    for (const elector of this.#furtherElectors.values()) await elector.stop();
    await this.#elector?.stop();
    await this.#webhooks?.close();
    for (const server of this.#servers) await server.close();
    for (const open of this.#open) await open.close();
    for (const undo of this.#undo.splice(0)) undo();
    this.#log.info('stopped');
    if (failure === undefined) this.#stoppedState.resolve();
    else this.#stoppedState.reject(reason);
  }

  async #drain(reason: Error): Promise<void> {
    const { gracefulStopMs = 30_000 } = this.#options;
    const drained = Promise.all(this.#controllers.map((controller) => controller.drain()));
    if (await this.#within(gracefulStopMs, drained)) return;
    for (const controller of this.#controllers) controller.abort(reason);
    if (await this.#within(1000, drained)) return;
    const left = this.#controllers.flatMap(({ controller, runningKeys }) =>
      runningKeys.map((key) => `${controller.name} ${key}`),
    );
    this.#log.warn('gave up waiting for reconciliations that do not end', { left });
  }

  /** Whether `work` ended in time. */
  async #within(limitMs: number, work: Promise<unknown> | undefined, complaint?: string): Promise<boolean> {
    if (!work) return true;
    using limit = timeLimit(this.#clock, limitMs);
    try {
      await abortable(work, limit.signal);
      return true;
    } catch (error) {
      if (!limit.isOver) throw error;
      if (complaint) this.#log.warn(complaint, { limitMs });
      return false;
    }
  }
}

function leaseText({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`;
}
