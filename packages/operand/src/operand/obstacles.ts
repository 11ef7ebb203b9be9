import {
  ClusterRole,
  ClusterRoleBinding,
  CustomResourceDefinition,
  isForbidden,
  isUnknownKind,
  minutes,
  MutatingWebhookConfiguration,
  Role,
  RoleBinding,
  seconds,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
  type Clock,
  type Kind,
  type ObjectKey,
} from '@slipway/kube';
import { Disputed, isAdmissionDenial, refKey, type ObjectRef } from '@slipway/manifests';
import { requeueAfter, type EmitKey, type EventSource, type EventSourceContext, type Requeue } from '@slipway/runtime';

/** What stands in the way of one Operand, as far as it can go away by itself. */
export interface Obstacle {
  /** Groups of kinds nobody serves. */
  readonly groups: ReadonlySet<string>;
  /** A webhook or a policy said no. */
  readonly denied: boolean;
  /** A right is missing. */
  readonly forbidden: boolean;
  /** Members (by `refKey`) that another set has and wants otherwise. */
  readonly disputed: ReadonlySet<string>;
}

/** What a pass over members, that applied, pruned or planned, ended with for one of them. */
interface Outcome {
  readonly ref: ObjectRef;
  readonly error?: unknown;
}

/** What stands in the way of a pass that ended like this; `undefined` when nothing that could move. */
export function obstacleIn(members: readonly Outcome[]): Obstacle | undefined {
  const groups = new Set(members.filter(({ error }) => isUnknownKind(error)).map(({ ref }) => ref.group));
  const denied = members.some(({ error }) => isAdmissionDenial(error));
  const forbidden = members.some(({ error }) => isMissingRight(error));
  const disputed = new Set(members.filter(({ error }) => error instanceof Disputed).map(({ ref }) => refKey(ref)));
  return groups.size > 0 || denied || forbidden || disputed.size > 0
    ? { groups, denied, forbidden, disputed }
    : undefined;
}

/** What stands in the way when a request of no member in particular was answered like this. */
export function obstacleOf(error: unknown): Obstacle | undefined {
  const denied = isAdmissionDenial(error);
  const forbidden = isMissingRight(error);
  return denied || forbidden ? { groups: new Set(), denied, forbidden, disputed: new Set() } : undefined;
}

function isMissingRight(error: unknown): boolean {
  return isForbidden(error) && !isAdmissionDenial(error);
}

const admissionKinds: readonly Kind[] = [
  ValidatingWebhookConfiguration,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
];

const rightsKinds: readonly Kind[] = [ClusterRole, ClusterRoleBinding, Role, RoleBinding];

/** A change of a definition or a policy takes a server so long to be in force everywhere. */
const settlingMs = seconds(15);
/** How long changes are collected: an installation brings many definitions. */
const collectMs = 500;
/** How soon to try again while something settles. */
const settlingRetryMs = seconds(2);
/** How soon to look again at what only a person can move; a change that is watched comes first. */
const heldMs = minutes(1);

/** Wakes Operands that failed when what stood in their way moves: a definition appears, a webhook or policy changes or goes, a right is given. */
export class Obstacles implements EventSource {
  readonly name = 'obstacles';
  readonly #byOperand = new Map<string, Obstacle>();
  /** The groups of the members of each Operand. */
  readonly #groups = new Map<string, ReadonlySet<string>>();
  /** Operands whose kinds came or went since they were last looked at. */
  readonly #unsettled = new Set<string>();
  #movedAt = -Infinity;

  /** What stands in the way of an Operand now. */
  note({ name }: ObjectKey, obstacle: Obstacle | undefined): void {
    if (obstacle) this.#byOperand.set(name, obstacle);
    else this.#byOperand.delete(name);
  }

  /**
   * Says which groups an Operand's members are of. Returns whether a definition of one came or went since the last time: the
   * objects go with it, and no watch may tell.
   */
  follow({ name }: ObjectKey, groups: ReadonlySet<string>): boolean {
    this.#groups.set(name, groups);
    return this.#unsettled.delete(name);
  }

  /** The Operands that wait for another set to let go of a member, by its `refKey`. */
  waitingFor(member: string): ObjectKey[] {
    return [...this.#byOperand].filter(([, { disputed }]) => disputed.has(member)).map(([name]) => ({ name }));
  }

  forget({ name }: ObjectKey): void {
    this.#byOperand.delete(name);
    this.#groups.delete(name);
    this.#unsettled.delete(name);
  }

  /** After a run that an answer of the server ended: another try soon while what stood in the way moves, else its usual back-off. */
  retryOrThrow(key: ObjectKey, error: unknown, clock: Clock): Requeue {
    const obstacle = obstacleOf(error);
    this.note(key, obstacle);
    if (obstacle && this.areSettling(clock)) return requeueAfter(settlingRetryMs);
    throw error;
  }

  /** When to try again what was refused. */
  retryMs(clock: Clock): number {
    return this.areSettling(clock) ? settlingRetryMs : heldMs;
  }

  /** Something has moved so lately that the server may not act on it yet: worth another try soon. */
  areSettling(clock: Clock): boolean {
    return clock.now() - this.#movedAt < settlingMs;
  }

  start(emit: EmitKey, context: EventSourceContext): () => void {
    const stops: (() => void)[] = [];
    const watch = async (kind: Kind, concerns: (obstacle: Obstacle, name: string) => boolean): Promise<void> => {
      const { cache, client } = context.cluster;
      // Policies are younger than the oldest server that is supported.
      await client.resolve(kind.apiVersion, kind.kind, { signal: context.signal });
      if (context.signal.aborted) return;
      const informer = cache.informer(kind, { view: 'obstacles', metadataOnly: true });
      const stop = informer.onEvent((event) => {
        const cameOrWent = event.type === 'added' ? !event.initial : event.type === 'deleted';
        if (kind === CustomResourceDefinition && (cameOrWent || event.meta.deletionTimestamp))
          for (const [name, groups] of this.#groups)
            if (groups.has(groupOfDefinition(event.key.name))) {
              this.#unsettled.add(name);
              emit({ name }, { afterMs: collectMs });
            }
        const concerned = [...this.#byOperand].filter(([, obstacle]) => concerns(obstacle, event.key.name));
        if (concerned.length > 0) this.#movedAt = context.clock.now();
        for (const [name] of concerned) emit({ name }, { afterMs: collectMs });
      });
      stops.push(stop);
    };
    const begin = (kind: Kind, concerns: (obstacle: Obstacle, name: string) => boolean): void => {
      watch(kind, concerns).catch((error: unknown) => {
        if (!context.signal.aborted)
          context.log.debug('not watched; failed Operands are tried again every minute', { kind: kind.kind, error });
      });
    };
    begin(CustomResourceDefinition, ({ groups }, name) => groups.has(groupOfDefinition(name)));
    for (const kind of admissionKinds) begin(kind, ({ denied }) => denied);
    for (const kind of rightsKinds) begin(kind, ({ forbidden }) => forbidden);
    return () => {
      for (const stop of stops) stop();
    };
  }
}

/** A definition is called after the plural and the group of its kind. */
function groupOfDefinition(name: string): string {
  return name.slice(name.indexOf('.') + 1);
}
