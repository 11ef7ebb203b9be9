/** The parts of a pod that decide what a kubelet would report. */
export interface Pod {
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    deletionTimestamp?: string;
  };
  spec: {
    nodeName?: string;
    nodeSelector?: Record<string, string>;
    schedulerName?: string;
    schedulingGates?: unknown[];
    restartPolicy?: string;
    readinessGates?: { conditionType: string }[];
    initContainers?: Container[];
    containers: Container[];
    affinity?: {
      nodeAffinity?: {
        requiredDuringSchedulingIgnoredDuringExecution?: {
          nodeSelectorTerms: { matchFields?: { key: string; operator: string; values?: string[] }[] }[];
        };
      };
    };
  };
  status?: { phase?: string };
}

interface Container {
  name: string;
  image: string;
  restartPolicy?: string;
}

export interface SimulatedNode {
  name: string;
  address: string;
  labels: Record<string, string>;
}

/** Whether the default scheduler would look at the pod now. */
export function awaitsScheduling({ metadata, spec }: Pod): boolean {
  return (
    !spec.nodeName &&
    !metadata.deletionTimestamp &&
    !spec.schedulingGates?.length &&
    (spec.schedulerName ?? 'default-scheduler') === 'default-scheduler'
  );
}

/** Nodes the pod may run on by `nodeSelector` and by the name that a DaemonSet demands. */
export function fittingNodes(pod: Pod, nodes: readonly SimulatedNode[]): SimulatedNode[] {
  const selector = Object.entries(pod.spec.nodeSelector ?? {});
  const names = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
    .flatMap((term) => term.matchFields ?? [])
    .filter(({ key, operator }) => key === 'metadata.name' && operator === 'In')
    .flatMap(({ values }) => values ?? []);
  return nodes.filter(
    (node) =>
      selector.every(([key, value]) => node.labels[key] === value) && (!names?.length || names.includes(node.name)),
  );
}

/** A pod that is not restarted forever has work that ends: a Job's, or a hook's. */
function runsToCompletion({ spec }: Pod): boolean {
  return spec.restartPolicy === 'Never' || spec.restartPolicy === 'OnFailure';
}

/** The status a kubelet reports once everything in the pod started (and, for work that ends, succeeded). */
export function settledStatus(pod: Pod, node: SimulatedNode, podAddress: string, now: Date): Record<string, unknown> {
  const at = now.toISOString().replace(/\.\d+Z$/, 'Z');
  const done = runsToCompletion(pod);
  const succeeded = { terminated: { exitCode: 0, reason: 'Completed', startedAt: at, finishedAt: at } };
  const running = { running: { startedAt: at } };
  const containerStatus = (container: Container, state: Record<string, unknown>, ready: boolean) => ({
    name: container.name,
    image: container.image,
    imageID: `simulated://${container.image}`,
    containerID: `simulated://${pod.metadata.uid}/${container.name}`,
    restartCount: 0,
    ready,
    started: 'running' in state,
    state,
  });
  const condition = (type: string, status: boolean, reason?: string) => ({
    type,
    status: status ? 'True' : 'False',
    lastTransitionTime: at,
    ...(reason ? { reason } : {}),
  });
  return {
    phase: done ? 'Succeeded' : 'Running',
    startTime: at,
    hostIP: node.address,
    hostIPs: [{ ip: node.address }],
    podIP: podAddress,
    podIPs: [{ ip: podAddress }],
    conditions: [
      condition('PodReadyToStartContainers', !done),
      condition('Initialized', true, done ? 'PodCompleted' : undefined),
      condition('Ready', !done, done ? 'PodCompleted' : undefined),
      condition('ContainersReady', !done, done ? 'PodCompleted' : undefined),
      condition('PodScheduled', true),
      ...(pod.spec.readinessGates ?? []).map(({ conditionType }) => condition(conditionType, true)),
    ],
    initContainerStatuses: pod.spec.initContainers?.map((container) =>
      // An init container that is done counts as ready.
      containerStatus(container, container.restartPolicy === 'Always' && !done ? running : succeeded, true),
    ),
    containerStatuses: pod.spec.containers.map((container) =>
      containerStatus(container, done ? succeeded : running, !done),
    ),
  };
}
