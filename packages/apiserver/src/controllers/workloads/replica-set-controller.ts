import type { ControllerContext, RunningController } from '../controller.ts';
import { objectKey, splitKey } from '../informer.ts';
import { WorkQueue } from '../work-queue.ts';
import { eventRecorder } from './event-recorder.ts';
import type { Condition, Pod, ReplicaSet } from './kinds.ts';
import { claim, controllerOf } from './ownership.ts';
import {
  PODS,
  createPod,
  deletePod,
  isPodActive,
  isPodReady,
  isPodTerminating,
  msUntilAvailable,
  podFrom,
  rankForDeletion,
} from './pods.ts';
import { matchesLabels } from '../../label-selector.ts';
import { kubeTime } from '../../clock.ts';
import { stableJson } from './template-hash.ts';

const REPLICA_SETS = { group: 'apps', version: 'v1', plural: 'replicasets' };

/** Keeps as many pods as a ReplicaSet asks for, and counts them in its status. */
export function startReplicaSetController(context: ControllerContext): RunningController {
  const { client, clock, informers, log } = context;
  const replicaSets = informers.of('apps', 'v1', 'replicasets');
  const pods = informers.of('', 'v1', 'pods');
  const events = eventRecorder(context, 'replicaset-controller');

  const queue = new WorkQueue({ name: 'ReplicaSet controller', clock, log, process });

  async function process(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const replicaSet = replicaSets.get(namespace, name) as ReplicaSet | undefined;
    if (!replicaSet) {
      return;
    }
    const claimed = await claim<Pod>(client, replicaSet, replicaSet.spec.selector, pods, PODS);
    const active = claimed.filter(isPodActive);
    let failure: Error | undefined;
    if (replicaSet.metadata.deletionTimestamp === undefined) {
      try {
        await manage(replicaSet, active);
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
      }
    }
    // Counted from before the pods were made or deleted, as the real one does: their own events bring the next count.
    await writeStatus(replicaSet, active, claimed.filter(isPodTerminating).length, failure, active.length);
    if (failure) {
      throw failure;
    }
  }

  async function manage(replicaSet: ReplicaSet, active: readonly Pod[]): Promise<void> {
    const difference = (replicaSet.spec.replicas ?? 1) - active.length;
    for (let count = 0; count < difference; count++) {
      const identity = { generateName: `${replicaSet.metadata.name}-` };
      try {
        const pod = await createPod(client, podFrom(replicaSet.spec.template, replicaSet, identity));
        events.event(replicaSet, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
      } catch (error) {
        events.event(replicaSet, 'Warning', 'FailedCreate', `Error creating: ${(error as Error).message}`);
        throw error;
      }
    }
    for (const pod of rankForDeletion(active).slice(0, Math.max(0, -difference))) {
      await deletePod(client, pod);
      events.event(replicaSet, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
    }
  }

  async function writeStatus(
    replicaSet: ReplicaSet,
    active: readonly Pod[],
    terminating: number,
    failure: Error | undefined,
    count: number,
  ): Promise<void> {
    const minReadySeconds = replicaSet.spec.minReadySeconds ?? 0;
    const now = clock.now();
    const waits = active.map((pod) => msUntilAvailable(pod, minReadySeconds, now));
    const fullyLabeled = active.filter((pod) =>
      matchesLabels({ matchLabels: replicaSet.spec.template.metadata?.labels }, pod.metadata.labels),
    ).length;
    const status: NonNullable<ReplicaSet['status']> = {
      replicas: active.length,
      fullyLabeledReplicas: fullyLabeled || undefined,
      readyReplicas: active.filter(isPodReady).length || undefined,
      availableReplicas: waits.filter((wait) => wait === 0).length || undefined,
      terminatingReplicas: terminating,
      observedGeneration: replicaSet.metadata.generation,
      conditions: failureConditions(replicaSet, failure, count),
    };
    const nextAvailable = Math.min(...waits.filter((wait) => wait !== undefined && wait > 0).map(Number));
    if (Number.isFinite(nextAvailable)) {
      queue.addAfter(objectKey(replicaSet), nextAvailable);
    }
    if (stableJson(status) !== stableJson(replicaSet.status ?? {})) {
      const address = { ...REPLICA_SETS, namespace: replicaSet.metadata.namespace, name: replicaSet.metadata.name! };
      await client.update({ ...address, subresource: 'status' }, { ...replicaSet, status });
    }
  }

  function failureConditions(
    replicaSet: ReplicaSet,
    failure: Error | undefined,
    count: number,
  ): Condition[] | undefined {
    const others = (replicaSet.status?.conditions ?? []).filter((condition) => condition.type !== 'ReplicaFailure');
    if (failure) {
      const old = replicaSet.status?.conditions?.find((condition) => condition.type === 'ReplicaFailure');
      others.push({
        type: 'ReplicaFailure',
        status: 'True',
        lastTransitionTime: old?.lastTransitionTime ?? kubeTime(clock.now()),
        reason: count < (replicaSet.spec.replicas ?? 1) ? 'FailedCreate' : 'FailedDelete',
        message: failure.message,
      });
    }
    return others.length > 0 ? others : undefined;
  }

  const unsubscribers = [
    replicaSets.subscribe(({ object, deleted }) => {
      if (!deleted) {
        queue.add(objectKey(object));
      }
    }),
    pods.subscribe(({ object, deleted }) => {
      const controller = controllerOf(object);
      if (controller) {
        if (controller.kind === 'ReplicaSet') {
          queue.add(`${object.metadata.namespace}/${controller.name}`);
        }
        return;
      }
      if (!deleted) {
        for (const candidate of replicaSets.list(object.metadata.namespace) as Iterable<ReplicaSet>) {
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
