import type {
  Cache,
  CacheEvent,
  Client,
  Clock,
  DeepReadonly,
  InformerScope,
  Kind,
  ObjectKey,
  ObjectOf,
  Random,
} from '@slipway/kube';
import type { Registry } from 'prom-client';

import type { EventRecorder } from '../events/event-recorder.ts';
import type { Logger } from '../log/logger.ts';
import type { ClusterView } from '../cluster/cluster-view.ts';
import type { RateLimiter } from '../queue/rate-limiter.ts';
import type { EventSource } from './event-source.ts';
import type { Predicate } from './predicates.ts';
import type { Requeue } from './result.ts';

/** What a reconciler works with. Everything in it belongs to the one reconciliation. */
export interface ReconcileContext {
  /** Objects of the kinds the controller declared, without requests. Sees what `client` wrote. */
  readonly cache: Cache;
  /** Its requests end when `signal` aborts and show up in the trace of the reconciliation. */
  readonly client: Client;
  /** Adds controller, object and reconcile id to each line. */
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts when the reconciliation must end: time limit, lost leadership, end of the grace period at stop. */
  readonly signal: AbortSignal;
  /** Tells people what happened, next to the object. */
  readonly events: EventRecorder;
  /** In every log line and span of this reconciliation. */
  readonly reconcileId: string;
  /** Failures of this key in a row before this attempt. */
  readonly failures: number;
  /** The manager's metrics, to register one's own in. */
  readonly metrics: Registry;
  /** Another cluster of the manager. */
  readonly cluster: (name: string) => ClusterView;
}

export type Reconcile = (
  context: ReconcileContext,
  key: ObjectKey,
) => Requeue | undefined | void | Promise<Requeue | undefined | void>;

/** A kind whose objects the controller owns (controller reference): their changes reconcile the owner. */
export interface Owned<K extends Kind = Kind> {
  kind: K;
  predicates?: readonly Predicate<ObjectOf<K>>[];
  scope?: InformerScope<ObjectOf<K>>;
}

/** A kind whose changes concern objects that `map` names. */
export interface Watch<K extends Kind = Kind> {
  kind: K;
  /** The keys to reconcile. May read the cache; a mapping that fails is logged. */
  map(event: CacheEvent<ObjectOf<K>>, context: WatchContext): readonly ObjectKey[] | Promise<readonly ObjectKey[]>;
  predicates?: readonly Predicate<ObjectOf<K>>[];
  scope?: InformerScope<ObjectOf<K>>;
  /** Where the kind is watched. Default: the cluster of the controller. */
  cluster?: string;
}

export interface WatchContext {
  /** The cache of the controller's cluster (not of the watched one). */
  readonly cache: Cache;
}

/** A kind the reconciler reads, whose changes do not matter. */
export interface Read<K extends Kind = Kind> {
  kind: K;
  scope?: InformerScope<ObjectOf<K>>;
  /** Default: the cluster of the controller. */
  cluster?: string;
}

/** What has to happen before an object may go. */
export interface Finalize<K extends Kind = Kind> {
  /** Name of the finalizer, such as `example.com/website`. */
  finalizer: string;
  /**
   * Runs for every object that is being deleted and still has the finalizer. When it returns nothing the finalizer is
   * removed; when it returns a requeue it is not done yet. May run more than once.
   */
  run(
    context: ReconcileContext,
    object: DeepReadonly<ObjectOf<K>>,
  ): Requeue | undefined | void | Promise<Requeue | undefined | void>;
}

export interface ControllerOptions<K extends Kind, W extends readonly Kind[] = readonly Kind[]> {
  /** Name in logs, metrics and traces; unique in a manager. */
  name: string;
  /** The kind whose objects are reconciled. */
  for: K;
  /** Which objects of it are cached. Default: all. */
  scope?: InformerScope<ObjectOf<K>>;
  /** All must accept a change of a `for` object before it is reconciled. Default: every change counts. */
  predicates?: readonly Predicate<ObjectOf<K>>[];
  owns?: readonly (Kind | Owned)[];
  watches?: readonly [...{ [I in keyof W]: Watch<W[I]> }];
  /** Kinds the reconciler only reads. */
  reads?: readonly (Kind | Read)[];
  sources?: readonly EventSource[];
  /** Reconciliations at a time, each of a different key. Default 1. */
  concurrency?: number;
  /** Longest reconciliation, in milliseconds: its signal aborts then. Default: no limit. */
  reconcileTimeoutMs?: number;
  /** Every object is reconciled again after this time (±10 %), in milliseconds, at low priority; 0 turns it off. Default 10 h. */
  resyncMs?: number;
  /** Default: 5 ms doubling to 1000 s for each key, 10 retries a second for all. */
  rateLimiter?: (clock: Clock) => RateLimiter;
  /** Whether only the leader runs it. Default true. */
  needsLeader?: boolean;
  /** A Lease it needs besides the one of the manager: that of a program beside which it must never act. */
  lease?: ControllerLease;
  /** The cluster it works on. Default `main`. */
  cluster?: string;
  /** Keeps deleted objects until the clean-up is done. */
  finalize?: Finalize<K>;
  reconcile: Reconcile;
}

/** The Lease of a controller's own. */
export interface ControllerLease {
  readonly namespace: string;
  readonly name: string;
  /** Also without leader election: for work that two processes can never share. Default false. */
  readonly always?: boolean;
}

/** A controller as declared; a manager runs it. */
export interface Controller {
  readonly name: string;
  readonly for: Kind;
  readonly scope: InformerScope | undefined;
  readonly predicates: readonly Predicate[];
  readonly owns: readonly Owned[];
  readonly watches: readonly Watch[];
  readonly reads: readonly Read[];
  readonly sources: readonly EventSource[];
  readonly concurrency: number;
  readonly reconcileTimeoutMs: number | undefined;
  readonly resyncMs: number;
  readonly rateLimiter: ((clock: Clock) => RateLimiter) | undefined;
  readonly needsLeader: boolean;
  readonly lease: ControllerLease | undefined;
  readonly cluster: string | undefined;
  readonly finalize: Finalize | undefined;
  readonly reconcile: Reconcile;
}

/** Declares a controller. Nothing runs until a manager starts it. */
export function controller<K extends Kind, const W extends readonly Kind[] = readonly []>(
  options: ControllerOptions<K, W>,
): Controller {
  const { name, concurrency = 1, reconcileTimeoutMs, resyncMs = 36_000_000 } = options;
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name)) {
    throw new Error(`controller '${name}': a name has lower-case letters, digits, '-' and '.'`);
  }
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new RangeError(`controller '${name}': concurrency must be a whole number above 0, not ${concurrency}`);
  }
  if (reconcileTimeoutMs !== undefined && !(reconcileTimeoutMs > 0)) {
    throw new RangeError(`controller '${name}': reconcileTimeoutMs must be above 0, not ${reconcileTimeoutMs}`);
  }
  if (!(resyncMs >= 0)) throw new RangeError(`controller '${name}': resyncMs must be 0 or more, not ${resyncMs}`);
  // Kinds carry their object types only at compile time; from here on all kinds are alike.
  return {
    name,
    for: options.for,
    scope: options.scope as InformerScope | undefined,
    predicates: (options.predicates ?? []) as unknown as readonly Predicate[],
    owns: (options.owns ?? []).map(withScope),
    watches: (options.watches ?? []) as unknown as readonly Watch[],
    reads: (options.reads ?? []).map(withScope),
    sources: options.sources ?? [],
    concurrency,
    reconcileTimeoutMs,
    resyncMs,
    rateLimiter: options.rateLimiter,
    needsLeader: options.needsLeader ?? true,
    lease: options.lease,
    cluster: options.cluster,
    finalize: options.finalize as unknown as Finalize | undefined,
    reconcile: options.reconcile,
  };
}

function withScope<D extends { kind: Kind }>(declared: Kind | D): D | { kind: Kind } {
  return typeof declared.kind === 'string' ? { kind: declared as Kind } : (declared as D);
}
