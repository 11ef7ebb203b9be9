import { cloneJson } from '../../clone-json.ts';
import { ApiError } from '../../api-error.ts';
import { matchesLabels } from '../../label-selector.ts';
import type { ControllerContext, RunningController } from '../controller.ts';
import { objectKey, splitKey } from '../informer.ts';
import { WorkQueue } from '../work-queue.ts';
import {
  condition,
  countStatus,
  isComplete,
  isRollingUpdate,
  msUntilDeadline,
  progressStatus,
  replicasOf,
  rollingLimits,
  sum,
  withCondition,
} from './deployment-status.ts';
import { eventRecorder } from './event-recorder.ts';
import type { Deployment, DeploymentStatus, Pod, PodTemplate, ReplicaSet } from './kinds.ts';
import { claim, controllerOf, controllerReference } from './ownership.ts';
import { isPodFinished } from './pods.ts';
import { stableJson, templateHash } from './template-hash.ts';

const DEPLOYMENTS = { group: 'apps', version: 'v1', plural: 'deployments' };
const REPLICA_SETS = { group: 'apps', version: 'v1', plural: 'replicasets' };
const HASH_LABEL = 'pod-template-hash';
const REVISION = 'deployment.kubernetes.io/revision';
const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';
const MAXIMUM = 'deployment.kubernetes.io/max-replicas';
const NOT_COPIED = [
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  REVISION,
  REVISION_HISTORY,
  DESIRED,
  MAXIMUM,
];

interface Family {
  current: ReplicaSet | undefined;
  readonly old: ReplicaSet[];
}

function templateWithoutHash(template: PodTemplate): PodTemplate {
  const { [HASH_LABEL]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

function revisionOf(replicaSet: ReplicaSet): number {
  return Number(replicaSet.metadata.annotations?.[REVISION] ?? 0);
}

/** Of what a sync changes nothing may decide here: two of one age would take turns at being the current one for ever. */
function byAge(a: ReplicaSet, b: ReplicaSet): number {
  return (
    (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '') ||
    a.metadata.name!.localeCompare(b.metadata.name!)
  );
}

/** Rolls the pods of a Deployment from one template to the next through ReplicaSets. */
export function startDeploymentController(context: ControllerContext): RunningController {
  const { client, clock, informers, log } = context;
  const deployments = informers.of('apps', 'v1', 'deployments');
  const replicaSets = informers.of('apps', 'v1', 'replicasets');
  const pods = informers.of('', 'v1', 'pods');
  const events = eventRecorder(context, 'deployment-controller');
  const queue = new WorkQueue({ name: 'Deployment controller', clock, log, process });

  async function process(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    let deployment = deployments.get(namespace, name) as Deployment | undefined;
    if (!deployment) {
      return;
    }
    const claimed = await claim<ReplicaSet>(client, deployment, deployment.spec.selector, replicaSets, REPLICA_SETS);
    const family = familyOf(deployment, claimed);
    if (deployment.metadata.deletionTimestamp !== undefined) {
      await writeStatus(deployment, countStatus(deployment, members(family), family.current, clock.now()));
      return;
    }
    deployment = await writePauseCondition(deployment);
    if (deployment.spec.paused) {
      await syncRevision(deployment, family, false);
      await scaleProportionally(deployment, family);
      await trimHistory(deployment, family);
      await writeStatus(deployment, countStatus(deployment, members(family), family.current, clock.now()));
      return;
    }
    if (isScalingEvent(deployment, family)) {
      deployment = await syncRevision(deployment, family, false);
      await scaleProportionally(deployment, family);
      await writeStatus(deployment, countStatus(deployment, members(family), family.current, clock.now()));
      return;
    }
    if (isRollingUpdate(deployment)) {
      await rollOut(deployment, family);
    } else {
      await recreate(deployment, family);
    }
  }

  function familyOf(deployment: Deployment, claimed: ReplicaSet[]): Family {
    const wanted = stableJson(normalized(deployment.spec.template));
    const sorted = [...claimed].sort(byAge);
    const current = sorted.find((each) => stableJson(normalized(templateWithoutHash(each.spec.template))) === wanted);
    return { current, old: sorted.filter((each) => each !== current) };
  }

  function normalized(template: PodTemplate): PodTemplate {
    const { labels, annotations, ...rest } = template.metadata ?? {};
    return { ...template, metadata: { ...rest, labels: labels ?? {}, annotations: annotations ?? {} } };
  }

  function members(family: Family): ReplicaSet[] {
    return family.current ? [...family.old, family.current] : [...family.old];
  }

  function isScalingEvent(deployment: Deployment, family: Family): boolean {
    return members(family).some((each) => {
      const desired = each.metadata.annotations?.[DESIRED];
      return replicasOf(each) > 0 && desired !== undefined && Number(desired) !== replicasOf(deployment);
    });
  }

  /** Makes sure the current ReplicaSet and its revision are right. Creates it when `create` says so. */
  async function syncRevision(deployment: Deployment, family: Family, create: boolean): Promise<Deployment> {
    const revision = String(Math.max(0, ...family.old.map(revisionOf)) + 1);
    if (family.current) {
      const annotations = currentAnnotations(deployment, family.current, revision);
      const minReadySeconds = deployment.spec.minReadySeconds ?? 0;
      const isStale =
        stableJson(annotations) !== stableJson(family.current.metadata.annotations ?? {}) ||
        (family.current.spec.minReadySeconds ?? 0) !== minReadySeconds;
      if (isStale) {
        family.current = await updateReplicaSet({
          ...family.current,
          metadata: { ...family.current.metadata, annotations },
          spec: { ...family.current.spec, minReadySeconds },
        });
      }
      const actual = family.current.metadata.annotations![REVISION]!;
      let status = deployment.status;
      const hasProgressing = status?.conditions?.some((each) => each.type === 'Progressing');
      if (deployment.spec.progressDeadlineSeconds !== undefined && !hasProgressing) {
        const message = `Found new replica set "${family.current.metadata.name}"`;
        status = withProgressing(deployment, 'FoundNewReplicaSet', message);
      }
      return writeRevision(deployment, actual, status);
    }
    if (!create) {
      return deployment;
    }
    family.current = await createReplicaSet(deployment, family, revision);
    const size = replicasOf(family.current);
    if (size > 0) {
      const message = `Scaled up replica set ${family.current.metadata.name} from 0 to ${size}`;
      events.event(deployment, 'Normal', 'ScalingReplicaSet', message);
    }
    const message = `Created new replica set "${family.current.metadata.name}"`;
    return writeRevision(deployment, revision, withProgressing(deployment, 'NewReplicaSetCreated', message));
  }

  function withProgressing(deployment: Deployment, reason: string, message: string): DeploymentStatus {
    const status = deployment.status ?? {};
    if (deployment.spec.progressDeadlineSeconds === undefined) {
      return status;
    }
    const next = condition('Progressing', 'True', reason, message, clock.now());
    return { ...status, conditions: withCondition(status.conditions ?? [], next) };
  }

  async function createReplicaSet(deployment: Deployment, family: Family, revision: string): Promise<ReplicaSet> {
    const { namespace, name } = deployment.metadata;
    const hash = templateHash(deployment.spec.template, deployment.status?.collisionCount ?? 0);
    const template = cloneJson(deployment.spec.template);
    template.metadata = { ...template.metadata, labels: { ...template.metadata?.labels, [HASH_LABEL]: hash } };
    const { surge } = rollingLimits(deployment);
    const selector = deployment.spec.selector;
    const replicaSet = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: `${name}-${hash}`,
        namespace,
        labels: template.metadata.labels,
        annotations: {
          ...copiedAnnotations(deployment),
          [DESIRED]: String(replicasOf(deployment)),
          [MAXIMUM]: String(replicasOf(deployment) + surge),
          [REVISION]: revision,
        },
        ownerReferences: [controllerReference(deployment)],
      },
      spec: {
        replicas: nextSize(deployment, family, 0),
        ...(deployment.spec.minReadySeconds ? { minReadySeconds: deployment.spec.minReadySeconds } : {}),
        selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH_LABEL]: hash } },
        template,
      },
    };
    try {
      return (await client.create({ ...REPLICA_SETS, namespace }, replicaSet)) as ReplicaSet;
    } catch (error) {
      const isTaken = error instanceof ApiError && error.status.reason === 'AlreadyExists';
      if (isTaken) {
        // Somebody else's ReplicaSet has this name: the next try takes another hash.
        const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
        await writeStatus(deployment, { ...deployment.status, collisionCount });
      }
      throw error;
    }
  }

  function copiedAnnotations(deployment: Deployment): Record<string, string> {
    const all = Object.entries(deployment.metadata.annotations ?? {});
    return Object.fromEntries(all.filter(([name]) => !NOT_COPIED.includes(name)));
  }

  function currentAnnotations(deployment: Deployment, current: ReplicaSet, revision: string): Record<string, string> {
    const before = current.metadata.annotations ?? {};
    const annotations: Record<string, string> = { ...before, ...copiedAnnotations(deployment) };
    annotations[DESIRED] = String(replicasOf(deployment));
    annotations[MAXIMUM] = String(replicasOf(deployment) + rollingLimits(deployment).surge);
    const old = before[REVISION];
    if (old === undefined || Number(old) < Number(revision)) {
      annotations[REVISION] = revision;
      if (old !== undefined) {
        annotations[REVISION_HISTORY] = before[REVISION_HISTORY] ? `${before[REVISION_HISTORY]},${old}` : old;
      }
    }
    return annotations;
  }

  /** How large the current ReplicaSet may be now. */
  function nextSize(deployment: Deployment, family: Family, size: number): number {
    const wanted = replicasOf(deployment);
    if (!isRollingUpdate(deployment)) {
      return wanted;
    }
    const room = wanted + rollingLimits(deployment).surge - sum(members(family), replicasOf);
    return room <= 0 ? size : size + Math.min(room, wanted - size);
  }

  async function rollOut(deployment: Deployment, family: Family): Promise<void> {
    const latest = await syncRevision(deployment, family, true);
    const moved = (await growCurrent(latest, family)) || (await shrinkOld(latest, family));
    if (!moved && isComplete(latest, latest.status ?? {})) {
      await trimHistory(latest, family);
    }
    await writeProgress(latest, family);
  }

  async function growCurrent(deployment: Deployment, family: Family): Promise<boolean> {
    const current = family.current!;
    const size = replicasOf(current);
    const wanted = replicasOf(deployment);
    const next = size > wanted ? wanted : size === wanted ? size : nextSize(deployment, family, size);
    if (next === size) {
      return false;
    }
    family.current = await scale(deployment, current, next);
    return true;
  }

  async function shrinkOld(deployment: Deployment, family: Family): Promise<boolean> {
    if (sum(family.old, replicasOf) === 0) {
      return false;
    }
    const minimum = replicasOf(deployment) - rollingLimits(deployment).unavailable;
    const missing = replicasOf(family.current) - (family.current?.status?.availableReplicas ?? 0);
    let removable = sum(members(family), replicasOf) - minimum - missing;
    if (removable <= 0) {
      return false;
    }
    let moved = false;
    const shrink = async (index: number, by: number) => {
      const old = family.old[index]!;
      family.old[index] = await scale(deployment, old, replicasOf(old) - by);
      removable -= by;
      moved = true;
    };
    // Pods that serve nobody go first: they cost no availability.
    for (let index = 0; index < family.old.length && removable > 0; index++) {
      const old = family.old[index]!;
      const unhealthy = replicasOf(old) - (old.status?.availableReplicas ?? 0);
      if (replicasOf(old) > 0 && unhealthy > 0) {
        await shrink(index, Math.min(removable, unhealthy));
      }
    }
    let spare = sum(members(family), (each) => each.status?.availableReplicas) - minimum;
    for (let index = 0; index < family.old.length && spare > 0; index++) {
      const by = Math.min(replicasOf(family.old[index]), spare);
      if (by > 0) {
        await shrink(index, by);
        spare -= by;
      }
    }
    return moved;
  }

  async function recreate(deployment: Deployment, family: Family): Promise<void> {
    let latest = await syncRevision(deployment, family, false);
    let moved = false;
    for (const [index, old] of family.old.entries()) {
      if (replicasOf(old) > 0) {
        family.old[index] = await scale(latest, old, 0);
        moved = true;
      }
    }
    if (!moved && !hasOldPods(family)) {
      latest = await syncRevision(latest, family, true);
      if (replicasOf(family.current) !== replicasOf(latest)) {
        family.current = await scale(latest, family.current!, replicasOf(latest));
      }
      if (isComplete(latest, latest.status ?? {})) {
        await trimHistory(latest, family);
      }
    }
    await writeProgress(latest, family);
  }

  function hasOldPods(family: Family): boolean {
    const old = new Set(family.old.map((each) => each.metadata.uid));
    return [...(pods.list() as Iterable<Pod>)].some((pod) => old.has(controllerOf(pod)?.uid) && !isPodFinished(pod));
  }

  /** Brings all ReplicaSets to a new total without changing their shares. */
  async function scaleProportionally(deployment: Deployment, family: Family): Promise<void> {
    const active = members(family).filter((each) => replicasOf(each) > 0);
    const only = active.length === 1 ? active[0]! : active.length === 0 ? (family.current ?? undefined) : undefined;
    const wanted = replicasOf(deployment);
    if (only) {
      replaceMember(family, only, await scale(deployment, only, wanted));
      return;
    }
    const current = family.current;
    const isSaturated =
      current !== undefined && replicasOf(current) === wanted && (current.status?.availableReplicas ?? 0) === wanted;
    if (isSaturated) {
      for (const old of active.filter((each) => each !== current)) {
        replaceMember(family, old, await scale(deployment, old, 0));
      }
      return;
    }
    if (!isRollingUpdate(deployment)) {
      return;
    }
    const allowed = wanted > 0 ? wanted + rollingLimits(deployment).surge : 0;
    let toAdd = allowed - sum(active, replicasOf);
    const bySize = [...active].sort(
      (a, b) => (toAdd > 0 ? replicasOf(b) - replicasOf(a) : replicasOf(a) - replicasOf(b)) || byAge(b, a),
    );
    const sizes = bySize.map((each) => {
      const maximum = Number(each.metadata.annotations?.[MAXIMUM] ?? 0) || sum(active, replicasOf);
      const share = Math.round((replicasOf(each) * allowed) / maximum) - replicasOf(each);
      const change = toAdd > 0 ? Math.min(Math.max(share, 0), toAdd) : Math.max(Math.min(share, 0), toAdd);
      toAdd -= change;
      return replicasOf(each) + change;
    });
    sizes[0] = Math.max(0, sizes[0]! + toAdd);
    for (const [index, each] of bySize.entries()) {
      replaceMember(family, each, await scale(deployment, each, sizes[index]!));
    }
  }

  function replaceMember(family: Family, before: ReplicaSet, after: ReplicaSet): void {
    if (family.current === before) {
      family.current = after;
    } else {
      family.old[family.old.indexOf(before)] = after;
    }
  }

  async function scale(deployment: Deployment, replicaSet: ReplicaSet, size: number): Promise<ReplicaSet> {
    const before = replicasOf(replicaSet);
    const annotations = {
      ...replicaSet.metadata.annotations,
      [DESIRED]: String(replicasOf(deployment)),
      [MAXIMUM]: String(replicasOf(deployment) + rollingLimits(deployment).surge),
    };
    const isRight = before === size && stableJson(annotations) === stableJson(replicaSet.metadata.annotations ?? {});
    if (isRight) {
      return replicaSet;
    }
    const scaled = await updateReplicaSet({
      ...replicaSet,
      metadata: { ...replicaSet.metadata, annotations },
      spec: { ...replicaSet.spec, replicas: size },
    });
    if (before !== size) {
      const direction = size > before ? 'up' : 'down';
      const message = `Scaled ${direction} replica set ${replicaSet.metadata.name} from ${before} to ${size}`;
      events.event(deployment, 'Normal', 'ScalingReplicaSet', message);
    }
    return scaled;
  }

  async function updateReplicaSet(replicaSet: ReplicaSet): Promise<ReplicaSet> {
    const { namespace, name } = replicaSet.metadata;
    return (await client.update({ ...REPLICA_SETS, namespace, name: name! }, replicaSet)) as ReplicaSet;
  }

  async function trimHistory(deployment: Deployment, family: Family): Promise<void> {
    const limit = deployment.spec.revisionHistoryLimit ?? 10;
    const idle = family.old.filter(
      (each) =>
        replicasOf(each) === 0 &&
        (each.status?.replicas ?? 0) === 0 &&
        (each.status?.observedGeneration ?? 0) >= (each.metadata.generation ?? 0) &&
        each.metadata.deletionTimestamp === undefined,
    );
    const surplus = [...idle].sort((a, b) => revisionOf(a) - revisionOf(b)).slice(0, Math.max(0, idle.length - limit));
    for (const each of surplus) {
      const { namespace, name, uid } = each.metadata;
      await client.delete({ ...REPLICA_SETS, namespace, name: name! }, { preconditions: { uid: uid! } });
      family.old.splice(family.old.indexOf(each), 1);
    }
  }

  async function writePauseCondition(deployment: Deployment): Promise<Deployment> {
    const progressing = deployment.status?.conditions?.find((each) => each.type === 'Progressing');
    const isMarked = progressing?.reason === 'DeploymentPaused';
    const isPaused = deployment.spec.paused === true;
    const concerned =
      deployment.spec.progressDeadlineSeconds !== undefined && progressing?.reason !== 'ProgressDeadlineExceeded';
    if (!concerned || isPaused === isMarked) {
      return deployment;
    }
    const next = isPaused
      ? condition('Progressing', 'Unknown', 'DeploymentPaused', 'Deployment is paused', clock.now())
      : condition('Progressing', 'Unknown', 'DeploymentResumed', 'Deployment is resumed', clock.now());
    const conditions = withCondition(deployment.status?.conditions ?? [], next);
    return writeStatus(deployment, { ...deployment.status, conditions });
  }

  async function writeProgress(deployment: Deployment, family: Family): Promise<void> {
    const status = progressStatus(deployment, members(family), family.current, clock.now());
    await writeStatus(deployment, status);
    const left = msUntilDeadline(deployment, status, clock.now());
    if (left !== undefined) {
      queue.addAfter(objectKey(deployment), Math.max(left, 1));
    }
  }

  async function writeStatus(deployment: Deployment, status: DeploymentStatus): Promise<Deployment> {
    if (stableJson(status) === stableJson(deployment.status ?? {})) {
      return deployment;
    }
    const { namespace, name } = deployment.metadata;
    const address = { ...DEPLOYMENTS, namespace, name: name!, subresource: 'status' };
    return (await client.update(address, { ...deployment, status })) as Deployment;
  }

  /** The revision annotation and the status go in one write: the status endpoint of Deployments takes annotations, too. */
  async function writeRevision(
    deployment: Deployment,
    revision: string,
    status: DeploymentStatus | undefined,
  ): Promise<Deployment> {
    const annotations = { ...deployment.metadata.annotations, [REVISION]: revision };
    const isRight =
      deployment.metadata.annotations?.[REVISION] === revision &&
      stableJson(status ?? {}) === stableJson(deployment.status ?? {});
    if (isRight) {
      return deployment;
    }
    const { namespace, name } = deployment.metadata;
    const address = { ...DEPLOYMENTS, namespace, name: name! };
    const wanted = { ...deployment, metadata: { ...deployment.metadata, annotations }, status };
    return (await client.update({ ...address, subresource: 'status' }, wanted)) as Deployment;
  }

  const enqueueOwner = (object: ReplicaSet | Pod): void => {
    const controller = controllerOf(object);
    if (controller?.kind === 'Deployment') {
      queue.add(`${object.metadata.namespace}/${controller.name}`);
    }
  };
  const unsubscribers = [
    deployments.subscribe(({ object, deleted }) => {
      if (!deleted) {
        queue.add(objectKey(object));
      }
    }),
    replicaSets.subscribe(({ object, deleted }) => {
      if (controllerOf(object)) {
        enqueueOwner(object as ReplicaSet);
      } else if (!deleted) {
        for (const candidate of deployments.list(object.metadata.namespace) as Iterable<Deployment>) {
          if (matchesLabels(candidate.spec.selector, object.metadata.labels)) {
            queue.add(objectKey(candidate));
          }
        }
      }
    }),
    // The Recreate strategy waits for the last old pod to be gone.
    pods.subscribe(({ object, deleted }) => {
      const controller = deleted ? controllerOf(object) : undefined;
      const replicaSet = controller && replicaSets.get(object.metadata.namespace, controller.name);
      if (replicaSet) {
        enqueueOwner(replicaSet as ReplicaSet);
      }
    }),
  ];
  return {
    stop() {
      unsubscribers.forEach((unsubscribe) => unsubscribe());
      queue.stop();
    },
  };
}
