import {
  type Client,
  type Clock,
  isAlreadyExists,
  isConflict,
  kubeMicroTime,
  Lease,
  type Random,
  sleep,
  timeLimit,
} from '@slipway/kube';

import type { Logger } from '../log/logger.ts';

export interface LeaderElectionOptions {
  /** Name of the Lease. Default: the manager's name. */
  name?: string;
  /** Namespace of the Lease. Default: that of the connection (the Pod's own in a cluster). */
  namespace?: string;
  /** Who we are. Default: host name and a random id. */
  identity?: string;
  /** How long a lease counts without renewal, in milliseconds. Default 15 000. */
  leaseDurationMs?: number;
  /** How long renewal may fail before we give up leading, in milliseconds. Default 10 000; below `leaseDurationMs`. */
  renewDeadlineMs?: number;
  /** Time between two attempts, in milliseconds. Default 2000; below `renewDeadlineMs` / 1.2. */
  retryMs?: number;
  /** Give the lease up at stop, so that the next one need not wait. Default true. */
  releaseOnStop?: boolean;
}

export interface LeaderElectorOptions extends LeaderElectionOptions {
  name: string;
  namespace: string;
  identity: string;
  /** Best on a connection of its own: a renewal must not stand behind a long list. */
  client: Pick<Client, 'get' | 'create' | 'update'>;
  clock: Clock;
  random: Random;
  log: Logger;
  metrics?: { master(is: boolean): void; slowpath(): void };
}

/** Why a manager stops when it cannot keep its lease. */
export class LeadershipLostError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LeadershipLostError';
  }
}

type Settings = Required<Omit<LeaderElectorOptions, 'metrics'>> & Pick<LeaderElectorOptions, 'metrics'>;

interface Observation {
  lease: Lease;
  /** When we first saw this content, on our own monotonic clock: clocks of other machines, and set ones, are not to be trusted. */
  at: number;
}

type Attempt = { kind: 'ours' } | { kind: 'theirs'; holder: string } | { kind: 'raced' };

/** `standby → leading → lost | released`, with `stopped` from anywhere. */
export type LeaderState = 'standby' | 'leading' | 'lost' | 'stopped';

/** Holds, or waits for, one Lease. */
export class LeaderElector {
  readonly #options: Settings;
  readonly #end = new AbortController();
  #state: LeaderState = 'standby';
  #seen: Observation | undefined;
  /** On the monotonic clock: when the last request that renewed the lease was sent. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  #loop: Promise<void> | undefined;

  constructor(options: LeaderElectorOptions) {
    const timing = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2000, releaseOnStop: true };
    this.#options = { ...timing, ...withoutUndefined(options) } as Settings;
    const { leaseDurationMs, renewDeadlineMs, retryMs } = this.#options;
    if (leaseDurationMs < 1000)
      throw new RangeError(`leader election: leaseDurationMs ${leaseDurationMs} is below 1000`);
    if (leaseDurationMs <= renewDeadlineMs) {
      throw new RangeError(
        `leader election: leaseDurationMs (${leaseDurationMs}) must be above renewDeadlineMs (${renewDeadlineMs})`,
      );
    }
    if (renewDeadlineMs <= retryMs * 1.2) {
      throw new RangeError(
        `leader election: renewDeadlineMs (${renewDeadlineMs}) must be above 1.2 times retryMs (${retryMs})`,
      );
    }
  }

  get state(): LeaderState {
    return this.#state;
  }

  /** Who holds the lease, as far as we know. */
  get holder(): string | undefined {
    return this.#seen?.lease.spec?.holderIdentity || undefined;
  }

  /** False when we believe to lead but have not been able to say so for longer than the lease lasts. */
  get healthy(): boolean {
    return this.#state !== 'leading' || this.#ageMs() <= this.#options.leaseDurationMs;
  }

  /**
   * Throws unless the lease is ours and younger than the renew deadline at this very moment: the process may have slept, or
   * computed, since the timer that watches the lease last ran. Whoever takes over waits at least for the rest of the lease.
   */
  assertLeading(): void {
    const { namespace, name, renewDeadlineMs } = this.#options;
    const ageMs = this.#ageMs();
    if (this.#state === 'leading' && ageMs < renewDeadlineMs) return;
    const problem =
      this.#state === 'leading' ? `not renewed for ${Math.round(ageMs)} ms` : `this process is ${this.#state}`;
    throw new LeadershipLostError(`nothing may be written without the lease ${namespace}/${name}: ${problem}`);
  }

  /** Waits for the lease, then keeps it. Each callback is called at most once. */
  start(callbacks: { onElected(): void; onLost(error: LeadershipLostError): void }): void {
    this.#loop ??= this.#run(callbacks);
  }

  /** Ends it; while leading, gives the lease up (`releaseOnStop`). */
  async stop(): Promise<void> {
    const led = this.#state === 'leading';
    this.#end.abort(new Error('leader election stopped'));
    await this.#loop;
    if (led && this.#options.releaseOnStop) await this.#release();
    if (this.#state !== 'lost') this.#state = 'stopped';
    this.#options.metrics?.master(false);
  }

  async #run(callbacks: { onElected(): void; onLost(error: LeadershipLostError): void }): Promise<void> {
    const { log, name, namespace, identity, metrics } = this.#options;
    log.info('waiting for the lease', { lease: `${namespace}/${name}`, identity });
    if (!(await this.#acquire())) return;
    this.#state = 'leading';
    metrics?.master(true);
    log.info('leading', { lease: `${namespace}/${name}`, identity });
    callbacks.onElected();
    const problem = await this.#keep();
    if (problem === undefined) return;
    this.#state = 'lost';
    metrics?.master(false);
    log.error('lost the lease', { lease: `${namespace}/${name}`, problem });
    callbacks.onLost(new LeadershipLostError(`lost the lease ${namespace}/${name}: ${problem}`));
  }

  async #acquire(): Promise<boolean> {
    const { clock, log, random, retryMs, renewDeadlineMs } = this.#options;
    let lastHolder: string | undefined;
    let lastFailure: string | undefined;
    for (;;) {
      try {
        const attempt = await this.#withLimit(renewDeadlineMs, (signal) => this.#attempt(signal));
        if (attempt.kind === 'ours') return true;
        if (attempt.kind === 'theirs' && attempt.holder !== lastHolder) {
          log.info('another process leads', { holder: attempt.holder });
          lastHolder = attempt.holder;
        }
      } catch (error) {
        if (this.#end.signal.aborted) return false;
        // Its namespace may be missing for as long as nobody needs what the lease is for: that is said once.
        if (String(error) !== lastFailure) log.warn('could not try for the lease', { error });
        lastFailure = String(error);
      }
      // Jitter, so that standbys do not all ask at the same moment.
      if (!(await this.#pause(retryMs * (1 + 0.2 * random.next()), clock))) return false;
    }
  }

  /** Renews until it cannot. Returns why, or `undefined` when stopped. */
  async #keep(): Promise<string | undefined> {
    const { clock, log, retryMs, renewDeadlineMs, metrics } = this.#options;
    for (;;) {
      if (!(await this.#pause(retryMs, clock))) return undefined;
      const leftMs = renewDeadlineMs - this.#ageMs();
      if (leftMs <= 0) return `not renewed for ${Math.round(this.#ageMs())} ms`;
      try {
        const attempt = await this.#withLimit(leftMs, async (signal) => {
          const fast = await this.#renewUnseen(signal);
          if (fast) return fast;
          metrics?.slowpath();
          return this.#attempt(signal);
        });
        if (attempt.kind === 'theirs') return `it belongs to ${attempt.holder} now`;
      } catch (error) {
        if (this.#end.signal.aborted) return undefined;
        log.warn('could not renew the lease', { error });
      }
    }
  }

  /** Writes over the version we wrote last, without reading: one request in the normal case. */
  async #renewUnseen(signal: AbortSignal): Promise<Attempt | undefined> {
    const seen = this.#seen?.lease;
    if (!seen || seen.spec?.holderIdentity !== this.#options.identity) return undefined;
    try {
      await this.#write(seen, signal);
      return { kind: 'ours' };
    } catch (error) {
      if (signal.aborted) throw error;
      return undefined;
    }
  }

  async #attempt(signal: AbortSignal): Promise<Attempt> {
    const { client, clock, namespace, name, identity, leaseDurationMs } = this.#options;
    const lease = await client.get(Lease, { namespace, name }, { signal });
    if (!lease) {
      const startedAt = clock.monotonic();
      try {
        this.#observe(await client.create(this.#next(undefined), { signal }));
      } catch (error) {
        if (isAlreadyExists(error)) return { kind: 'raced' };
        throw error;
      }
      this.#renewedAt = startedAt;
      return { kind: 'ours' };
    }
    this.#observe(lease);
    const holder = lease.spec?.holderIdentity;
    // As long as its holder counts on it, which may be longer than we would.
    const heldMs = (lease.spec?.leaseDurationSeconds ?? 0) * 1000 || leaseDurationMs;
    if (holder && holder !== identity && clock.monotonic() < this.#seen!.at + heldMs) {
      return { kind: 'theirs', holder };
    }
    try {
      await this.#write(lease, signal);
    } catch (error) {
      if (isConflict(error)) return { kind: 'raced' };
      throw error;
    }
    return { kind: 'ours' };
  }

  async #write(lease: Lease, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const startedAt = clock.monotonic();
    this.#observe(await client.update(this.#next(lease), { signal }));
    // Counted from before the request: the server may have stored it the moment it was sent.
    this.#renewedAt = startedAt;
  }

  #next(lease: Lease | undefined): Lease {
    const { clock, namespace, name, identity, leaseDurationMs } = this.#options;
    const now = kubeMicroTime(clock.now());
    const kept = lease?.spec?.holderIdentity === identity;
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: lease?.metadata ?? { namespace, name },
      spec: {
        ...lease?.spec,
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
        acquireTime: kept ? (lease.spec?.acquireTime ?? now) : now,
        renewTime: now,
        leaseTransitions: (lease?.spec?.leaseTransitions ?? 0) + (kept || !lease ? 0 : 1),
      },
    };
  }

  #observe(lease: Lease): void {
    if (this.#seen?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    this.#seen = { lease, at: this.#options.clock.monotonic() };
  }

  #ageMs(): number {
    return this.#options.clock.monotonic() - this.#renewedAt;
  }

  async #release(): Promise<void> {
    const { client, clock, identity, log, retryMs } = this.#options;
    const seen = this.#seen?.lease;
    if (!seen || seen.spec?.holderIdentity !== identity) return;
    const now = kubeMicroTime(clock.now());
    const free: Lease = {
      ...seen,
      spec: { ...seen.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now },
    };
    try {
      using limit = timeLimit(clock, retryMs);
      await client.update(free, { signal: limit.signal });
      log.info('gave the lease up');
    } catch (error) {
      log.warn('could not give the lease up; the next leader has to wait for it to run out', { error });
    }
  }

  async #pause(delayMs: number, clock: Clock): Promise<boolean> {
    try {
      await sleep(clock, delayMs, this.#end.signal);
      return true;
    } catch {
      return false;
    }
  }

  async #withLimit<T>(limitMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#end.signal.throwIfAborted();
    using limit = timeLimit(this.#options.clock, limitMs, { signal: this.#end.signal });
    return await work(limit.signal);
  }
}

function withoutUndefined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}
