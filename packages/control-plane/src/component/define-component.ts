import {
  type Clock,
  hasFinalizer,
  type KubeObject,
  isTerminating,
  type DeepReadonly,
  type ObjectKey,
  type ObjectOf,
  type Random,
  minutes,
  seconds,
} from '@slipway/kube';
import {
  type Controller,
  controller,
  type EventRecorder,
  type EventSource,
  type Logger,
  or,
  type Read,
  type ReconcileContext,
  type Requeue,
  requeueAfter,
  type Watch,
  type ClusterView,
  mainCluster,
} from '@slipway/runtime';

import { names, operations } from '../names.ts';
import type { Reason } from '../reasons.ts';
import { ComponentError, ContractViolation } from './component-error.ts';
import type { ComponentCondition, ReadonlyComponent } from './component-resource.ts';
import {
  type componentKinds,
  type ComponentType,
  dependencyFinalizer,
  finalizer,
  kindOf,
  originalFinalizer,
} from './component-type.ts';
import { healthyType } from './conditions.ts';
import { createdFromOrNone } from './created-from-generation.ts';
import {
  ensureDependencyFinalizer,
  getDependents,
  hasAnyDependencyFinalizer,
  hasStayingDependents,
  isClosedTo,
  removeDependencyFinalizer,
} from './dependency-finalizers.ts';
import { type ComponentCache, type ComponentClient, guardedCache, guardedClient } from './guarded-client.ts';
import { Internal, InternalTexts } from './internal.ts';
import { patchAnnotation } from './patch-annotation.ts';
import { defaultComponentControllerPredicates, lostFinalizer, statusChanged } from './predicates.ts';
import { isDependencyReady } from './readiness.ts';
import { updateStatus } from './update-status.ts';

type ComponentObject<T extends ComponentType> = ObjectOf<(typeof componentKinds)[T]>;
type StatusOf<T extends ComponentType> = Partial<NonNullable<ComponentObject<T>['status']>>;

/** What a component's author works with. It holds nothing with which the contract could be broken. */
export interface ComponentContext<T extends ComponentType> {
  /** Its own resource. */
  readonly component: DeepReadonly<ComponentObject<T>>;
  readonly key: ObjectKey;
  /** The resources of the components it depends on, as far as they exist. */
  readonly dependencies: { readonly [D in ComponentType]?: DeepReadonly<ComponentObject<D>> };
  /** The onboarding cluster, but for component resources and ManagedControlPlanes. */
  readonly client: ComponentClient;
  readonly cache: ComponentCache;
  /** Another cluster of the manager. */
  readonly cluster: (name: string) => ClusterView;
  /** Marks a text the customer must not see. It cannot get into a condition from here on, not even inside an error. */
  readonly internal: (text: string) => Internal;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/** What `apply` and `remove` have to say. */
export interface ComponentOutcome<T extends ComponentType> {
  /** Fields of its status; `undefined` removes one. */
  readonly status?: StatusOf<T>;
  /** Conditions besides `<Type>Healthy` and `<Type>Reconciliation`. A type that begins in lower case stays private. */
  readonly conditions?: readonly ComponentCondition[];
  /** What `apply` found out about how it is, for `isReady`. */
  readonly readiness?: Readiness;
  /** Look again after this time, in milliseconds. Default: when something changes. */
  readonly requeueAfterMs?: number;
}

/** How a component is, or why it is not ready yet. */
export type Readiness =
  | { readonly ready: true; readonly message?: string }
  | { readonly ready: false; readonly reason: Reason; readonly message: string };

export interface ComponentDefinition<T extends ComponentType> {
  readonly type: T;
  /** Components it puts its dependency finalizer on: none of them goes before it. Default: none. */
  readonly dependsOn?: readonly ComponentType[];
  /** Which of them must be ready before it begins, and while it goes. Default: APIServer, where it depends on it. */
  readonly waitsFor?: readonly ComponentType[];
  /**
   * It works on as if nothing had happened while others still need it, also when all of them are going, so that they can clean up. Only the APIServer
   * does. Default false.
   */
  readonly servesDependentsWhileGoing?: boolean;
  /** Brings about what the spec says. Idempotent. */
  apply(context: ComponentContext<T>): Promise<ComponentOutcome<T> | void>;
  /** How it is after `apply`. */
  isReady(context: ComponentContext<T>, outcome: ComponentOutcome<T>): Promise<Readiness> | Readiness;
  /** Takes everything away. A readiness that is not ready says what the deletion waits for. */
  remove(
    context: ComponentContext<T>,
  ): Promise<(ComponentOutcome<T> & { readonly waiting?: { reason: Reason; message: string } }) | void>;
  readonly watches?: readonly Watch[];
  readonly reads?: readonly Read[];
  readonly sources?: readonly EventSource[];
  /** What it watches on control planes, a `TargetWatch`; `apply` says which (`follow`). It is left when the resource is gone. */
  readonly targetWatch?: EventSource & { leave(key: ObjectKey): void };
  /** Default {@link targetWorkers}. */
  readonly concurrency?: number;
}

/**
 * How many control planes a controller works on at a time. Most of that time it waits for other machines, of which some do not answer: they must not
 * keep the others waiting.
 */
export const targetWorkers = 50;

/** A wait nothing wakes: how long until the next look. What usually wakes it is a watch. */
const pollMs = minutes(1);

/**
 * How long a new component keeps to itself that it waits for one that was made with it and has not said a word either. Most have within that time:
 * it would be told, and told otherwise at once, for every control plane and again in its ManagedControlPlane.
 */
const firstWordMs = seconds(2);

/** Makes the controller of a component: the whole reconciliation flow of the contract around the author's three functions. */
export function componentController<T extends ComponentType>(definition: ComponentDefinition<T>): Controller {
  const dependsOn = definition.dependsOn ?? [];
  const kind = kindOf(definition.type);
  const sameKey = (event: { readonly key: ObjectKey }): readonly ObjectKey[] => [event.key];
  return controller({
    name: definition.type.toLowerCase(),
    for: kind,
    predicates: defaultComponentControllerPredicates,
    watches: [
      ...dependsOn.map((dependency) => ({
        kind: kindOf(dependency),
        predicates: [or(statusChanged, lostFinalizer)],
        map: sameKey,
      })),
      ...(definition.watches ?? []),
    ] as Watch[] as never,
    reads: definition.reads,
    sources: [...(definition.sources ?? []), ...(definition.targetWatch ? [definition.targetWatch] : [])],
    concurrency: definition.concurrency ?? targetWorkers,
    reconcile: async (context, key) => await reconcileComponent(definition, context, key),
  });
}

interface Pass<T extends ComponentType> {
  readonly definition: ComponentDefinition<T>;
  readonly context: ReconcileContext;
  readonly key: ObjectKey;
  readonly component: ReadonlyComponent;
  readonly author: ComponentContext<T>;
}

/** What a pass came to, for the status. */
interface Verdict {
  readonly conditions: readonly ComponentCondition[];
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly reason?: Reason;
  readonly message?: string;
  readonly requeue?: Requeue;
  /** The resource is on its way out; there is no status to write. */
  readonly gone?: boolean;
  /** There is nothing to say yet. */
  readonly unsaid?: boolean;
}

/** The reconciliation flow of the contract. */
async function reconcileComponent<T extends ComponentType>(
  definition: ComponentDefinition<T>,
  context: ReconcileContext,
  key: ObjectKey,
): Promise<Requeue | undefined> {
  const { type, targetWatch } = definition;
  const kind = kindOf(type);

  // Fetch resource from cluster.
  const component = (await context.cache.get(kind, key)) as ReadonlyComponent | undefined;
  if (component === undefined) {
    targetWatch?.leave(key);
    return undefined;
  }

  // Check for operation annotations and act accordingly.
  const operation = component.metadata.annotations?.[names.operationAnnotation];
  if (operation === operations.ignore) return undefined;
  if (operation === operations.reconcile) {
    await patchAnnotation(context.client, kind, component, names.operationAnnotation, '', 'delete');
  }

  const internals = new InternalTexts();
  const author = await authorContext(definition, context, key, component, internals);
  const pass: Pass<T> = { definition, context, key, component, author };
  let verdict: Verdict = { conditions: [] };
  let failure: unknown;
  try {
    verdict = await reconcilePresent(pass);
  } catch (error) {
    failure = error;
  }

  // Update component status, also in case of an error.
  if (verdict.gone) targetWatch?.leave(key);
  else if (!verdict.unsaid) {
    await updateStatus(context.client, kind, {
      ...verdict,
      type,
      component,
      error: failure,
      internals,
      nowMs: context.clock.now(),
    });
  }
  if (failure !== undefined) throw internals.clean(failure);
  return verdict.requeue;
}

async function reconcilePresent<T extends ComponentType>(pass: Pass<T>): Promise<Verdict> {
  // If the component has dependencies, they have been fetched; those it needs must be ready.
  const waiting = dependencyNotReady(pass);
  if (waiting) return waiting;

  // Check if resource is in deletion and proceed with the corresponding logic.
  return isTerminating(pass.component) ? await removeComponent(pass) : await applyComponent(pass);
}

function dependencyNotReady<T extends ComponentType>({
  definition,
  context,
  component,
  author,
}: Pass<T>): Verdict | undefined {
  const { type, dependsOn = [], waitsFor = dependsOn.filter((dependency) => dependency === 'APIServer') } = definition;
  const own = createdFromOrNone(component);
  const missing = waitsFor.filter((dependency) => {
    const found = author.dependencies[dependency] as ReadonlyComponent | undefined;
    // Gone while we go: only we could have let it, after our own clean-up. To wait for it would be to wait for ever.
    if (found === undefined) return !isTerminating(component);
    return !isDependencyReady(found, own);
  });
  if (missing.length === 0) return undefined;
  const involved = [component, ...missing.map((dependency) => author.dependencies[dependency])];
  const silentMs = involved.every(isSilent) ? firstWordMs - ageMs(component, context.clock) : 0;
  if (silentMs > 0) return { conditions: [], unsaid: true, requeue: requeueAfter(silentMs) };
  return waitingForDependencies(type, `Waiting for ${missing.join(', ')} dependency to be ready.`);
}

function isSilent(component: ReadonlyComponent | undefined): boolean {
  return component !== undefined && component.status === undefined && !isTerminating(component);
}

/** By clocks of two machines: where they differ, one that seems not to be made yet is old. */
function ageMs({ metadata }: ReadonlyComponent, clock: Clock): number {
  const age = clock.now() - Date.parse(metadata.creationTimestamp ?? '');
  return age >= 0 ? age : Infinity;
}

/** Somebody deleted a dependency by hand before this component depended on it. The new one comes only after the last who keeps the old one. */
function closedDependencies<T extends ComponentType>(
  type: T,
  dependsOn: readonly ComponentType[],
  dependencies: ComponentContext<T>['dependencies'],
): Verdict | undefined {
  for (const dependency of dependsOn) {
    const found = dependencies[dependency] as ReadonlyComponent | undefined;
    if (found === undefined || !isClosedTo(type, found)) continue;
    const keepers = getDependents(found).join(', ');
    const message = `Waiting for ${dependency} to be made again: it is being deleted, and [${keepers}] need it. Take these out of the ManagedControlPlane for a while, or delete it.`;
    return waitingForDependencies(type, message);
  }
  return undefined;
}

function waitingForDependencies(type: ComponentType, message: string): Verdict {
  return {
    conditions: [{ type: healthyType(type), status: 'False', reason: 'WaitingForDependencies', message }],
    requeue: requeueAfter(pollMs),
  };
}

async function applyComponent<T extends ComponentType>({
  definition,
  context,
  key,
  component,
  author,
}: Pass<T>): Promise<Verdict> {
  const { type, dependsOn = [] } = definition;
  if (!isTerminating(component)) {
    // Ensure finalizer on own component resource.
    await ensureOwnFinalizer(context, type, component);
    const closed = closedDependencies(type, dependsOn, author.dependencies);
    if (closed) return closed;
    // Ensure dependency finalizers on all resources of components depended on.
    for (const dependency of dependsOn) {
      // Nobody but us takes it off again.
      const fetched = author.dependencies[dependency] as ReadonlyComponent | undefined;
      if (!fetched || !hasFinalizer(fetched, dependencyFinalizer(type)))
        await ensureDependencyFinalizer(context.client, type, dependency, key, fetched);
    }
  }
  // Perform actual component logic.
  const outcome = (await definition.apply(author)) ?? {};
  const readiness = await definition.isReady(author, outcome);
  return {
    conditions: [healthCondition(type, readiness), ...(outcome.conditions ?? [])],
    fields: outcome.status as Record<string, unknown> | undefined,
    ...(readiness.ready ? {} : { reason: readiness.reason, message: readiness.message }),
    requeue: outcome.requeueAfterMs === undefined ? undefined : requeueAfter(outcome.requeueAfterMs),
  };
}

async function removeComponent<T extends ComponentType>(pass: Pass<T>): Promise<Verdict> {
  const { definition, context, key, component } = pass;
  const { type, dependsOn = [] } = definition;

  // Check if there are any dependency finalizers on the own resource. Nothing is deleted while one is left.
  if (hasAnyDependencyFinalizer(component)) {
    const reason = 'DeletionWaitingForDependingComponents';
    const message = `Deletion is waiting for the following dependencies to be removed: [${getDependents(component).join(', ')}]`;
    if (definition.servesDependentsWhileGoing || (await hasStayingDependents(context.client, component, key))) {
      const verdict = await applyComponent(pass);
      return { ...verdict, reason, message, requeue: verdict.requeue ?? requeueAfter(pollMs) };
    }
    return {
      conditions: [{ type: healthyType(type), status: 'True', reason, message }],
      requeue: requeueAfter(pollMs),
    };
  }

  // Perform actual component deletion logic. Without our finalizer there is nothing of ours to delete.
  const ours = [finalizer(type), originalFinalizer(type)].filter((candidate) => hasFinalizer(component, candidate));
  if (ours.length === 0) return { conditions: [], gone: true };
  const outcome = (await removeUnlessDone(pass)) ?? {};

  // If the deletion has to wait for something: update status accordingly and requeue resource.
  if (outcome.waiting) {
    return {
      conditions: [{ type: healthyType(type), status: 'False', ...outcome.waiting }, ...(outcome.conditions ?? [])],
      fields: outcome.status as Record<string, unknown> | undefined,
      ...outcome.waiting,
      requeue: requeueAfter(outcome.requeueAfterMs ?? pollMs),
    };
  }

  // If the deletion is finished: remove own dependency finalizers from all resources of components depended on.
  for (const dependency of dependsOn) await removeDependencyFinalizer(context.client, type, dependency, key);

  // Remove own finalizer from own resource. This should result in the resource being deleted.
  for (const each of ours) await context.client.removeFinalizer(component as KubeObject, each);
  return { conditions: [], gone: true };
}

/** The author's deletion logic. What it cannot reach because the API server is gone, went with it. */
async function removeUnlessDone<T extends ComponentType>({ definition, author }: Pass<T>) {
  const released = (definition.dependsOn ?? []).includes('APIServer') && author.dependencies.APIServer === undefined;
  try {
    return await definition.remove(author);
  } catch (error) {
    if (released && error instanceof ComponentError && error.reason === 'DependencyStatusInvalid') return undefined;
    throw error;
  }
}

async function ensureOwnFinalizer(
  context: ReconcileContext,
  type: ComponentType,
  component: ReadonlyComponent,
): Promise<void> {
  // Ours goes on before the original's comes off: at no moment is the resource without one.
  if (!hasFinalizer(component, finalizer(type)))
    await context.client.addFinalizer(component as KubeObject, finalizer(type));
  if (hasFinalizer(component, originalFinalizer(type))) {
    const present = await context.client.get(kindOf(type), {
      namespace: component.metadata.namespace,
      name: component.metadata.name!,
    });
    if (present) await context.client.removeFinalizer(present, originalFinalizer(type));
  }
}

function healthCondition(type: ComponentType, readiness: Readiness): ComponentCondition {
  return readiness.ready
    ? { type: healthyType(type), status: 'True', message: readiness.message }
    : { type: healthyType(type), status: 'False', reason: readiness.reason, message: readiness.message };
}

async function authorContext<T extends ComponentType>(
  definition: ComponentDefinition<T>,
  context: ReconcileContext,
  key: ObjectKey,
  component: ReadonlyComponent,
  internals: InternalTexts,
): Promise<ComponentContext<T>> {
  const dependencies: Record<string, unknown> = {};
  for (const dependency of definition.dependsOn ?? []) {
    const found = await context.cache.get(kindOf(dependency), key);
    if (found === undefined) continue;
    // An ignored resource is treated as if it did not exist.
    if (found.metadata.annotations?.[names.operationAnnotation] === operations.ignore && !isTerminating(component))
      continue;
    dependencies[dependency] = found;
  }
  return {
    component: component as DeepReadonly<ComponentObject<T>>,
    key,
    dependencies: dependencies as ComponentContext<T>['dependencies'],
    client: guardedClient(context.client),
    cache: guardedCache(context.cache),
    cluster: (name) => otherCluster(context, name),
    internal: (text) => new Internal(text, internals),
    log: context.log,
    events: context.events,
    clock: context.clock,
    random: context.random,
    signal: context.signal,
  };
}

/** The onboarding cluster has a client of its own, which keeps the contract; under its name it would be a way around it. */
function otherCluster(context: ReconcileContext, name: string): ClusterView {
  if (name === mainCluster) {
    throw new ContractViolation(`a component gets at the onboarding cluster through its client, not as '${name}'`);
  }
  return context.cluster(name);
}

/** For components whose `apply` has found out how they are. */
export function readyAsFound<T extends ComponentType>(
  _context: ComponentContext<T>,
  { readiness = { ready: true } }: ComponentOutcome<T>,
): Readiness {
  return readiness;
}
