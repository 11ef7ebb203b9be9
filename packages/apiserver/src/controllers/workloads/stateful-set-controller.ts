import { cloneJson } from '../../clone-json.ts';
import { ApiError } from '../../api-error.ts';
import { matchesLabels } from '../../label-selector.ts';
import type { ControllerContext, RunningController } from '../controller.ts';
import { objectKey, splitKey } from '../informer.ts';
import { WorkQueue } from '../work-queue.ts';
import { recordRevision, revisionsOf, trimRevisions, type ControllerRevision } from './controller-revisions.ts';
import { eventRecorder } from './event-recorder.ts';
import type { Pod, PodTemplate, StatefulSet } from './kinds.ts';
import { claim, controllerOf, controllerReference } from './ownership.ts';
import {
  PODS,
  createPod,
  deletePod,
  isPodAvailable,
  isPodFinished,
  isPodReady,
  msUntilAvailable,
  podFrom,
} from './pods.ts';
import { stableJson } from './template-hash.ts';

const STATEFUL_SETS = { group: 'apps', version: 'v1', plural: 'statefulsets' };
const CLAIMS = { group: '', version: 'v1', plural: 'persistentvolumeclaims' };
const REVISION_LABEL = 'controller-revision-hash';

interface Plan {
  readonly set: StatefulSet;
  readonly pods: Map<number, Pod>;
  readonly current: string;
  readonly update: ControllerRevision;
}

function ordinalOf(set: StatefulSet, pod: Pod): number | undefined {
  const prefix = `${set.metadata.name}-`;
  const text = pod.metadata.name!.startsWith(prefix) ? pod.metadata.name!.slice(prefix.length) : '';
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

function revisionOf(pod: Pod): string | undefined {
  return pod.metadata.labels?.[REVISION_LABEL];
}

/** Keeps pods with stable names and claims; starts, stops and updates them in order. */
export function startStatefulSetController(context: ControllerContext): RunningController {
  const { client, clock, informers, log } = context;
  const sets = informers.of('apps', 'v1', 'statefulsets');
  const pods = informers.of('', 'v1', 'pods');
  const claims = informers.of('', 'v1', 'persistentvolumeclaims');
  const revisions = informers.of('apps', 'v1', 'controllerrevisions');
  const events = eventRecorder(context, 'statefulset-controller');
  const queue = new WorkQueue({ name: 'StatefulSet controller', clock, log, process });

  async function process(key: string): Promise<void> {
    await revisions.synced();
    const { namespace, name } = splitKey(key);
    const set = sets.get(namespace, name) as StatefulSet | undefined;
    if (!set) {
      return;
    }
    const claimed = await claim<Pod>(client, set, set.spec.selector, pods, PODS);
    const update = await recordRevision(client, set, set.spec.template, revisions);
    const byOrdinal = new Map(claimed.map((pod) => [ordinalOf(set, pod) ?? -1, pod]));
    const plan: Plan = {
      set,
      pods: byOrdinal,
      current: set.status?.currentRevision ?? update.metadata.name!,
      update,
    };
    if (set.metadata.deletionTimestamp === undefined) {
      await act(plan);
    }
    await writeStatus(plan);
    const inUse = new Set([plan.current, update.metadata.name!, ...claimed.map((pod) => revisionOf(pod) ?? '')]);
    await trimRevisions(client, set, revisions, inUse, set.spec.revisionHistoryLimit ?? 10);
  }

  function wantedOrdinals(set: StatefulSet): number[] {
    const start = set.spec.ordinals?.start ?? 0;
    return Array.from({ length: set.spec.replicas ?? 1 }, (_, index) => start + index);
  }

  function isHealthy(set: StatefulSet, pod: Pod): boolean {
    const minReadySeconds = set.spec.minReadySeconds ?? 0;
    const wait = msUntilAvailable(pod, minReadySeconds, clock.now());
    if (wait !== undefined && wait > 0) {
      queue.addAfter(objectKey(set), wait);
    }
    return pod.status?.phase === 'Running' && wait === 0 && pod.metadata.deletionTimestamp === undefined;
  }

  /** One step at a time under OrderedReady; all at once under Parallel. */
  async function act(plan: Plan): Promise<void> {
    const { set } = plan;
    const inOrder = set.spec.podManagementPolicy !== 'Parallel';
    const wanted = wantedOrdinals(set);
    for (const ordinal of wanted) {
      const pod = plan.pods.get(ordinal);
      if (pod && isPodFinished(pod)) {
        if (pod.metadata.deletionTimestamp === undefined) {
          await remove(set, pod);
        }
        if (inOrder) {
          return;
        }
        continue;
      }
      if (!pod) {
        plan.pods.set(ordinal, await create(plan, ordinal));
        if (inOrder) {
          return;
        }
        continue;
      }
      await ensureClaims(set, pod.metadata.name!);
      if (inOrder && !isHealthy(set, pod)) {
        return;
      }
    }
    const condemned = [...plan.pods.keys()].filter((ordinal) => !wanted.includes(ordinal)).sort((a, b) => b - a);
    for (const ordinal of condemned) {
      const pod = plan.pods.get(ordinal)!;
      if (pod.metadata.deletionTimestamp === undefined) {
        await remove(set, pod);
      }
      if (inOrder) {
        return;
      }
    }
    await updateNext(plan, wanted);
  }

  async function updateNext(plan: Plan, wanted: readonly number[]): Promise<void> {
    const { set } = plan;
    if (set.spec.updateStrategy?.type === 'OnDelete') {
      return;
    }
    const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
    for (const ordinal of [...wanted].sort((a, b) => b - a).filter((each) => each >= partition)) {
      const pod = plan.pods.get(ordinal);
      if (!pod) {
        return;
      }
      if (revisionOf(pod) !== plan.update.metadata.name && pod.metadata.deletionTimestamp === undefined) {
        await remove(set, pod);
        return;
      }
      if (!isHealthy(set, pod)) {
        return;
      }
    }
  }

  async function remove(set: StatefulSet, pod: Pod): Promise<void> {
    const name = `delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`;
    await deletePod(client, pod);
    events.event(set, 'Normal', 'SuccessfulDelete', name);
  }

  async function create(plan: Plan, ordinal: number): Promise<Pod> {
    const { set } = plan;
    const name = `${set.metadata.name}-${ordinal}`;
    const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
    const isHeldBack = ordinal < partition && plan.current !== plan.update.metadata.name;
    const revision = isHeldBack
      ? (revisionsOf(set, revisions).find((each) => each.metadata.name === plan.current) ?? plan.update)
      : plan.update;
    await ensureClaims(set, name);
    const recorded: PodTemplate & { $patch?: string } = revision.data?.spec.template ?? set.spec.template;
    const { $patch: _, ...template } = recorded;
    const pod = podFrom(template, set, {
      name,
      labels: {
        'apps.kubernetes.io/pod-index': String(ordinal),
        [REVISION_LABEL]: revision.metadata.name!,
        'statefulset.kubernetes.io/pod-name': name,
      },
    });
    pod.spec.hostname = name;
    if (set.spec.serviceName) {
      pod.spec.subdomain = set.spec.serviceName;
    }
    const templates = set.spec.volumeClaimTemplates ?? [];
    const own = templates.map((each) => ({
      name: each.metadata.name!,
      persistentVolumeClaim: { claimName: `${each.metadata.name}-${name}` },
    }));
    const others = (pod.spec.volumes ?? []).filter((volume) => !own.some((each) => each.name === volume.name));
    if (own.length > 0) {
      pod.spec.volumes = [...own, ...others];
    }
    try {
      const created = await createPod(client, pod);
      const text = `create Pod ${name} in StatefulSet ${set.metadata.name} successful`;
      events.event(set, 'Normal', 'SuccessfulCreate', text);
      return created;
    } catch (error) {
      const text = `create Pod ${name} in StatefulSet ${set.metadata.name} failed error: ${(error as Error).message}`;
      events.event(set, 'Warning', 'FailedCreate', text);
      throw error;
    }
  }

  async function ensureClaims(set: StatefulSet, podName: string): Promise<void> {
    const { namespace } = set.metadata;
    for (const template of set.spec.volumeClaimTemplates ?? []) {
      const name = `${template.metadata.name}-${podName}`;
      if (claims.get(namespace, name)) {
        continue;
      }
      const isOwned = set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete';
      try {
        await client.create(
          { ...CLAIMS, namespace },
          {
            apiVersion: 'v1',
            kind: 'PersistentVolumeClaim',
            metadata: {
              name,
              namespace,
              labels: { ...template.metadata.labels, ...set.spec.selector.matchLabels },
              ...(template.metadata.annotations ? { annotations: template.metadata.annotations } : {}),
              ...(isOwned ? { ownerReferences: [{ ...controllerReference(set), blockOwnerDeletion: false }] } : {}),
            },
            spec: cloneJson(template['spec']),
          },
        );
        const text = `create Claim ${name} Pod ${podName} in StatefulSet ${set.metadata.name} success`;
        events.event(set, 'Normal', 'SuccessfulCreate', text);
      } catch (error) {
        if (!(error instanceof ApiError && error.status.reason === 'AlreadyExists')) {
          throw error;
        }
      }
    }
  }

  async function writeStatus(plan: Plan): Promise<void> {
    const { set, update } = plan;
    const present = [...(pods.list(set.metadata.namespace) as Iterable<Pod>)].filter(
      (pod) => controllerOf(pod)?.uid === set.metadata.uid && ordinalOf(set, pod) !== undefined,
    );
    const name = update.metadata.name!;
    const staying = present.filter((pod) => pod.metadata.deletionTimestamp === undefined);
    const minReadySeconds = set.spec.minReadySeconds ?? 0;
    const updated = staying.filter((pod) => revisionOf(pod) === name).length;
    const ready = present.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod)).length;
    const isDone =
      updated === (set.spec.replicas ?? 1) &&
      staying.length === present.length &&
      ready === present.length &&
      updated === present.length;
    const currentRevision = isDone ? name : plan.current;
    const current = staying.filter((pod) => revisionOf(pod) === currentRevision).length;
    const status = {
      observedGeneration: set.metadata.generation,
      replicas: present.length,
      readyReplicas: ready || undefined,
      currentReplicas: current || undefined,
      updatedReplicas: updated || undefined,
      currentRevision,
      updateRevision: name,
      collisionCount: set.status?.collisionCount ?? 0,
      availableReplicas: staying.filter((pod) => isPodAvailable(pod, minReadySeconds, clock.now())).length,
    };
    if (stableJson(status) !== stableJson(set.status ?? {})) {
      const address = { ...STATEFUL_SETS, namespace: set.metadata.namespace, name: set.metadata.name! };
      await client.update({ ...address, subresource: 'status' }, { ...set, status });
    }
  }

  const unsubscribers = [
    sets.subscribe(({ object, deleted }) => {
      if (!deleted) {
        queue.add(objectKey(object));
      }
    }),
    pods.subscribe(({ object, deleted }) => {
      const controller = controllerOf(object);
      if (controller?.kind === 'StatefulSet') {
        queue.add(`${object.metadata.namespace}/${controller.name}`);
      } else if (!controller && !deleted) {
        for (const candidate of sets.list(object.metadata.namespace) as Iterable<StatefulSet>) {
          if (matchesLabels(candidate.spec.selector, object.metadata.labels)) {
            queue.add(objectKey(candidate));
          }
        }
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
