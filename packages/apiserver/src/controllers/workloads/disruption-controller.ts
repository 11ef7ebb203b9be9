import { kubeTime } from '../../clock.ts';
import { matchesLabels, type LabelSelector } from '../../label-selector.ts';
import type { ApiObject } from '../../object.ts';
import type { ControllerContext, RunningController } from '../controller.ts';
import { objectKey, splitKey } from '../informer.ts';
import { WorkQueue } from '../work-queue.ts';
import type { Condition, IntOrPercent, Pod } from './kinds.ts';
import { controllerOf } from './ownership.ts';
import { resolvePercent } from './percent.ts';
import { isPodFinished, isPodReady } from './pods.ts';
import { stableJson } from './template-hash.ts';

const BUDGETS = { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' };

interface Budget extends ApiObject {
  spec: { selector?: LabelSelector; minAvailable?: IntOrPercent; maxUnavailable?: IntOrPercent };
  status?: {
    observedGeneration?: number;
    disruptionsAllowed?: number;
    currentHealthy?: number;
    desiredHealthy?: number;
    expectedPods?: number;
    disruptedPods?: Record<string, string>;
    conditions?: Condition[];
  };
}

/** Says in the status of a PodDisruptionBudget how many pods may be evicted now. */
export function startDisruptionController(context: ControllerContext): RunningController {
  const { client, clock, informers, log } = context;
  const budgets = informers.of('policy', 'v1', 'poddisruptionbudgets');
  const pods = informers.of('', 'v1', 'pods');
  const owners = {
    ReplicaSet: informers.of('apps', 'v1', 'replicasets'),
    StatefulSet: informers.of('apps', 'v1', 'statefulsets'),
  } as const;
  const queue = new WorkQueue({ name: 'disruption controller', clock, log, process });

  async function process(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const budget = budgets.get(namespace, name) as Budget | undefined;
    if (!budget || budget.metadata.deletionTimestamp !== undefined) {
      return;
    }
    const members = [...(pods.list(namespace) as Iterable<Pod>)].filter(
      (pod) => matchesLabels(budget.spec.selector ?? {}, pod.metadata.labels) && !isPodFinished(pod),
    );
    const { minAvailable, maxUnavailable } = budget.spec;
    const isRelative = maxUnavailable !== undefined || typeof minAvailable === 'string';
    const expected = isRelative ? expectedPods(namespace!, members) : members.length;
    const desired =
      maxUnavailable !== undefined
        ? Math.max(0, expected - resolvePercent(maxUnavailable, expected, 'up'))
        : resolvePercent(minAvailable ?? 1, expected, 'up');
    const healthy = members.filter((pod) => isPodReady(pod) && pod.metadata.deletionTimestamp === undefined).length;
    const disrupted = Object.entries(budget.status?.disruptedPods ?? {}).filter(([victim]) =>
      members.some((pod) => pod.metadata.name === victim && pod.metadata.deletionTimestamp === undefined),
    );
    const allowed = members.length > 0 ? Math.max(0, healthy - disrupted.length - desired) : 0;
    await writeStatus(budget, {
      observedGeneration: budget.metadata.generation,
      disruptionsAllowed: allowed,
      currentHealthy: healthy,
      desiredHealthy: desired,
      expectedPods: expected,
      ...(disrupted.length > 0 ? { disruptedPods: Object.fromEntries(disrupted) } : {}),
      conditions: [conditionFor(budget, allowed)],
    });
  }

  /** How many pods the owners of the present ones want. */
  function expectedPods(namespace: string, members: readonly Pod[]): number {
    const sizes = new Map<string, number>();
    let others = 0;
    for (const pod of members) {
      const controller = controllerOf(pod);
      const informer = controller && owners[controller.kind as keyof typeof owners];
      const owner = informer?.get(namespace, controller!.name);
      if (owner) {
        sizes.set(owner.metadata.uid!, (owner['spec'] as { replicas?: number }).replicas ?? 1);
      } else {
        others += 1;
      }
    }
    return [...sizes.values()].reduce((total, size) => total + size, others);
  }

  function conditionFor(budget: Budget, allowed: number): Condition {
    const old = budget.status?.conditions?.find((condition) => condition.type === 'DisruptionAllowed');
    const status = allowed > 0 ? 'True' : 'False';
    return {
      type: 'DisruptionAllowed',
      status,
      observedGeneration: budget.metadata.generation,
      lastTransitionTime: old?.status === status ? old.lastTransitionTime! : kubeTime(clock.now()),
      reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
      message: '',
    };
  }

  async function writeStatus(budget: Budget, status: NonNullable<Budget['status']>): Promise<void> {
    if (stableJson(status) !== stableJson(budget.status ?? {})) {
      const { namespace, name } = budget.metadata;
      await client.update({ ...BUDGETS, namespace, name: name!, subresource: 'status' }, { ...budget, status });
    }
  }

  const unsubscribers = [
    budgets.subscribe(({ object, deleted }) => {
      if (!deleted) {
        queue.add(objectKey(object));
      }
    }),
    pods.subscribe(({ object }) => {
      for (const budget of budgets.list(object.metadata.namespace) as Iterable<Budget>) {
        if (matchesLabels(budget.spec.selector ?? {}, object.metadata.labels)) {
          queue.add(objectKey(budget));
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
