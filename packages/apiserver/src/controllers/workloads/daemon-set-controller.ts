import type { ControllerContext, RunningController } from '../controller.ts';
import { objectKey, splitKey } from '../informer.ts';
import { WorkQueue } from '../work-queue.ts';
import { hashOf, recordRevision, trimRevisions, type ControllerRevision } from './controller-revisions.ts';
import { eventRecorder } from './event-recorder.ts';
import type { DaemonSet, Node, Pod } from './kinds.ts';
import { claim, controllerOf } from './ownership.ts';
import { resolvePercent } from './percent.ts';
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
import { matchesNodeSelection, tolerates } from './scheduler.ts';
import { stableJson } from './template-hash.ts';

const DAEMON_SETS = { group: 'apps', version: 'v1', plural: 'daemonsets' };
const REVISION_LABEL = 'controller-revision-hash';

/** Daemons belong on nodes that others must leave alone. */
const EXTRA_TOLERATIONS = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

/** Keeps one pod on every node that wants it. */
export function startDaemonSetController(context: ControllerContext): RunningController {
  const { client, clock, informers, log } = context;
  const daemonSets = informers.of('apps', 'v1', 'daemonsets');
  const pods = informers.of('', 'v1', 'pods');
  const nodes = informers.of('', 'v1', 'nodes');
  const revisions = informers.of('apps', 'v1', 'controllerrevisions');
  const events = eventRecorder(context, 'daemonset-controller');
  const queue = new WorkQueue({ name: 'DaemonSet controller', clock, log, process });

  async function process(key: string): Promise<void> {
    await revisions.synced();
    await nodes.synced();
    const { namespace, name } = splitKey(key);
    const daemonSet = daemonSets.get(namespace, name) as DaemonSet | undefined;
    if (!daemonSet) {
      return;
    }
    const claimed = await claim<Pod>(client, daemonSet, daemonSet.spec.selector, pods, PODS);
    const revision = await recordRevision(client, daemonSet, daemonSet.spec.template, revisions);
    if (daemonSet.metadata.deletionTimestamp === undefined) {
      await manage(daemonSet, claimed, revision);
      await updateNext(daemonSet, revision);
    }
    await writeStatus(daemonSet, revision);
    await trimRevisions(
      client,
      daemonSet,
      revisions,
      new Set([revision.metadata.name!]),
      daemonSet.spec.revisionHistoryLimit ?? 10,
    );
  }

  /** The node a daemon pod is meant for, also before it is bound. */
  function nodeOf(pod: Pod): string | undefined {
    const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
    const field = terms?.[0]?.matchFields?.find((each) => each.key === 'metadata.name');
    return pod.spec.nodeName || field?.values?.[0];
  }

  function wants(daemonSet: DaemonSet, node: Node): boolean {
    const template = { ...daemonSet.spec.template, metadata: {} } as unknown as Pod;
    const tolerations = [...(template.spec.tolerations ?? []), ...EXTRA_TOLERATIONS];
    const isRepelled = (node.spec.taints ?? []).some(
      (taint) =>
        taint.effect !== 'PreferNoSchedule' &&
        !tolerates(tolerations, taint) &&
        taint.key !== 'node.kubernetes.io/not-ready',
    );
    return !isRepelled && matchesNodeSelection(template, node);
  }

  async function manage(daemonSet: DaemonSet, claimed: readonly Pod[], revision: ControllerRevision): Promise<void> {
    for (const node of [...nodes.list()] as Node[]) {
      const here = claimed.filter((pod) => nodeOf(pod) === node.metadata.name);
      const failed = here.filter((pod) => isPodFinished(pod) && pod.metadata.deletionTimestamp === undefined);
      for (const pod of failed) {
        const text = `Found failed daemon pod ${daemonSet.metadata.namespace}/${pod.metadata.name} on node ${node.metadata.name}, will try to kill it`;
        events.event(daemonSet, 'Warning', 'FailedDaemonPod', text);
        await remove(daemonSet, pod);
      }
      const alive = here.filter((pod) => !isPodFinished(pod));
      if (!wants(daemonSet, node)) {
        for (const pod of alive.filter((each) => each.metadata.deletionTimestamp === undefined)) {
          await remove(daemonSet, pod);
        }
      } else if (here.length === 0) {
        await create(daemonSet, node, revision);
      } else {
        const extra = alive.filter((pod) => pod.metadata.deletionTimestamp === undefined).slice(1);
        for (const pod of extra) {
          await remove(daemonSet, pod);
        }
      }
    }
    const known = new Set([...nodes.list()].map((node) => node.metadata.name));
    for (const pod of claimed) {
      if (!known.has(nodeOf(pod)) && pod.metadata.deletionTimestamp === undefined) {
        await remove(daemonSet, pod);
      }
    }
  }

  async function create(daemonSet: DaemonSet, node: Node, revision: ControllerRevision): Promise<void> {
    const generation = daemonSet.metadata.annotations?.['deprecated.daemonset.template.generation'];
    const pod = podFrom(daemonSet.spec.template, daemonSet, {
      generateName: `${daemonSet.metadata.name}-`,
      labels: {
        [REVISION_LABEL]: hashOf(revision),
        ...(generation ? { 'pod-template-generation': generation } : {}),
      },
    });
    const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node.metadata.name!] }] };
    const affinity = pod.spec.affinity;
    pod.spec.affinity = {
      ...affinity,
      nodeAffinity: {
        ...affinity?.nodeAffinity,
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
      },
    };
    pod.spec.tolerations = [...(pod.spec.tolerations ?? []), ...EXTRA_TOLERATIONS];
    const created = await createPod(client, pod);
    events.event(daemonSet, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
  }

  async function remove(daemonSet: DaemonSet, pod: Pod): Promise<void> {
    await deletePod(client, pod);
    events.event(daemonSet, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
  }

  function own(daemonSet: DaemonSet): Pod[] {
    return [...(pods.list(daemonSet.metadata.namespace) as Iterable<Pod>)].filter(
      (pod) => controllerOf(pod)?.uid === daemonSet.metadata.uid,
    );
  }

  /** Replaces old pods as far as `maxUnavailable` allows; those that do not serve go first. */
  async function updateNext(daemonSet: DaemonSet, revision: ControllerRevision): Promise<void> {
    if (daemonSet.spec.updateStrategy?.type === 'OnDelete') {
      return;
    }
    const present = own(daemonSet);
    const wanted = ([...nodes.list()] as Node[]).filter((node) => wants(daemonSet, node)).length;
    const limit = resolvePercent(daemonSet.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, wanted, 'up');
    const isServing = (pod: Pod) =>
      isPodAvailable(pod, daemonSet.spec.minReadySeconds ?? 0, clock.now()) &&
      pod.metadata.deletionTimestamp === undefined;
    let room = Math.max(limit, 1) - (wanted - present.filter(isServing).length);
    const old = present.filter(
      (pod) =>
        pod.metadata.labels?.[REVISION_LABEL] !== hashOf(revision) && pod.metadata.deletionTimestamp === undefined,
    );
    for (const pod of old.sort((a, b) => Number(isServing(a)) - Number(isServing(b)))) {
      if (isServing(pod)) {
        if (room <= 0) {
          continue;
        }
        room -= 1;
      }
      await remove(daemonSet, pod);
    }
  }

  async function writeStatus(daemonSet: DaemonSet, revision: ControllerRevision): Promise<void> {
    const minReadySeconds = daemonSet.spec.minReadySeconds ?? 0;
    const present = own(daemonSet).filter((pod) => pod.metadata.deletionTimestamp === undefined);
    const wanting = new Set(
      ([...nodes.list()] as Node[]).filter((node) => wants(daemonSet, node)).map((node) => node.metadata.name!),
    );
    const placed = present.filter((pod) => wanting.has(nodeOf(pod) ?? ''));
    const waits = placed.map((pod) => msUntilAvailable(pod, minReadySeconds, clock.now()));
    const available = waits.filter((wait) => wait === 0).length;
    const soonest = Math.min(...waits.filter((wait) => wait !== undefined && wait > 0).map(Number));
    if (Number.isFinite(soonest)) {
      queue.addAfter(objectKey(daemonSet), soonest);
    }
    const status = {
      currentNumberScheduled: placed.length,
      numberMisscheduled: present.length - placed.length,
      desiredNumberScheduled: wanting.size,
      numberReady: placed.filter(isPodReady).length,
      observedGeneration: daemonSet.metadata.generation,
      updatedNumberScheduled:
        placed.filter((pod) => pod.metadata.labels?.[REVISION_LABEL] === hashOf(revision)).length || undefined,
      numberAvailable: available || undefined,
      numberUnavailable: wanting.size - available || undefined,
    };
    if (stableJson(status) !== stableJson(daemonSet.status ?? {})) {
      const { namespace, name } = daemonSet.metadata;
      const address = { ...DAEMON_SETS, namespace, name: name!, subresource: 'status' };
      await client.update(address, { ...daemonSet, status });
    }
  }

  const unsubscribers = [
    daemonSets.subscribe(({ object, deleted }) => {
      if (!deleted) {
        queue.add(objectKey(object));
      }
    }),
    pods.subscribe(({ object }) => {
      const controller = controllerOf(object);
      if (controller?.kind === 'DaemonSet') {
        queue.add(`${object.metadata.namespace}/${controller.name}`);
      }
    }),
    nodes.subscribe(({ object, previous, deleted }) => {
      const isNews =
        deleted ||
        !previous ||
        stableJson([object['spec'], object.metadata.labels]) !==
          stableJson([previous['spec'], previous.metadata.labels]);
      if (isNews) {
        for (const daemonSet of daemonSets.list()) {
          queue.add(objectKey(daemonSet));
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
