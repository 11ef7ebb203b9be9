import { cloneJson } from '../../clone-json.ts';
import { ApiError } from '../../api-error.ts';
import { kubeTime } from '../../clock.ts';
import type { ControllerContext, RunningController } from '../controller.ts';
import { objectKey, splitKey } from '../informer.ts';
import { WorkQueue } from '../work-queue.ts';
import { eventRecorder } from './event-recorder.ts';
import type { Node, Pod, PodStatus } from './kinds.ts';
import { backOffStatus, finishedStatus, restartedStatus, runningStatus, waitingStatus } from './pod-status.ts';
import { PODS, conditionOf, isPodFinished } from './pods.ts';
import { chooseNode } from './scheduler.ts';
import type { SimulationRules } from './simulation.ts';
import { stableJson } from './template-hash.ts';

const FIRST_BACK_OFF_MS = 10_000;
const LAST_BACK_OFF_MS = 300_000;
const SIMULATED = 'sim.slipway.dev/node';

type Behaviour = ReturnType<SimulationRules['stageOf']>;

/** Plays scheduler and kubelet: binds pods to simulated nodes and takes them through the stages the rules ask for. */
export function startPodSimulator(context: ControllerContext, rules: SimulationRules): RunningController {
  const { client, clock, informers, log } = context;
  const pods = informers.of('', 'v1', 'pods');
  const nodes = informers.of('', 'v1', 'nodes');
  const schedulerEvents = eventRecorder(context, 'default-scheduler');
  const kubeletEvents = eventRecorder(context, 'kubelet');
  /** Uid → when the pod entered the state it is in, as far as this simulator saw it. */
  const entered = new Map<string, { state: string; at: number }>();
  const podIPs = new Map<string, string>();
  let lastIP = 0;

  const queue = new WorkQueue({ name: 'pod simulator', clock, log, process });

  async function process(key: string): Promise<void> {
    await informers.synced();
    const { namespace, name } = splitKey(key);
    const pod = pods.get(namespace, name) as Pod | undefined;
    if (!pod) {
      return;
    }
    const behaviour = rules.stageOf(pod);
    if (pod.metadata.deletionTimestamp !== undefined) {
      await terminate(pod, behaviour);
    } else if (!pod.spec.nodeName) {
      await schedule(pod, behaviour);
    } else if (!isPodFinished(pod) && isSimulated(pod.spec.nodeName)) {
      await live(pod, behaviour);
    }
  }

  function isSimulated(nodeName: string): boolean {
    return nodes.get(undefined, nodeName)?.metadata.annotations?.[SIMULATED] !== undefined;
  }

  async function terminate(pod: Pod, behaviour: Behaviour): Promise<void> {
    const isOurs = !pod.spec.nodeName || isSimulated(pod.spec.nodeName) || !nodes.get(undefined, pod.spec.nodeName);
    if (!isOurs || ((pod.metadata.finalizers ?? []).length > 0 && pod.metadata.deletionGracePeriodSeconds === 0)) {
      return;
    }
    const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1_000;
    if (!hasWaited(pod, 'terminating', Math.min(behaviour.terminationDelayMs, graceMs))) {
      return;
    }
    const { namespace, name, uid } = pod.metadata;
    try {
      await client.delete({ ...PODS, namespace, name: name! }, { gracePeriodSeconds: 0, preconditions: { uid: uid! } });
    } catch (error) {
      if (!(error instanceof ApiError && error.status.code === 404)) {
        throw error;
      }
    }
  }

  async function schedule(pod: Pod, behaviour: Behaviour): Promise<void> {
    const isForUs = (pod.spec.schedulerName ?? 'default-scheduler') === 'default-scheduler';
    if (!isForUs || (pod.spec.schedulingGates ?? []).length > 0 || isPodFinished(pod)) {
      return;
    }
    const choice =
      behaviour.outcome === 'unschedulable'
        ? {
            refusal: `0/${[...nodes.list()].length} nodes are available: ${behaviour.message ?? 'no node takes this pod'}.`,
          }
        : chooseNode(pod, [...nodes.list()] as Node[], podsPerNode());
    if ('refusal' in choice) {
      const condition = {
        type: 'PodScheduled',
        status: 'False',
        lastProbeTime: null,
        lastTransitionTime: conditionOf(pod.status, 'PodScheduled')?.lastTransitionTime ?? kubeTime(clock.now()),
        reason: 'Unschedulable',
        message: choice.refusal,
      };
      const others = (pod.status?.conditions ?? []).filter((each) => each.type !== 'PodScheduled');
      const changed = await writeStatus(pod, { ...pod.status, conditions: [...others, condition] });
      if (changed) {
        schedulerEvents.event(pod, 'Warning', 'FailedScheduling', choice.refusal);
      }
      return;
    }
    const { namespace, name, uid } = pod.metadata;
    const node = choice.node.metadata.name!;
    await client.create(
      { ...PODS, namespace, name: name!, subresource: 'binding' },
      { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace, uid }, target: { kind: 'Node', name: node } },
    );
    schedulerEvents.event(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node}`);
  }

  function podsPerNode(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const pod of pods.list() as Iterable<Pod>) {
      if (pod.spec.nodeName && !isPodFinished(pod)) {
        counts.set(pod.spec.nodeName, (counts.get(pod.spec.nodeName) ?? 0) + 1);
      }
    }
    return counts;
  }

  async function live(pod: Pod, behaviour: Behaviour): Promise<void> {
    const now = kubeTime(clock.now());
    const ending = {
      exitCode: behaviour.outcome === 'succeed' ? 0 : behaviour.exitCode,
      message: behaviour.message,
    };
    if (pod.status?.phase !== 'Running') {
      if (behaviour.outcome === 'hang' || !hasWaited(pod, 'starting', behaviour.startDelayMs)) {
        await writeStatus(pod, waitingStatus(pod, now, 'ContainerCreating', undefined));
        return;
      }
      if (behaviour.outcome === 'image-pull-error') {
        const message = `Back-off pulling image "${pod.spec.containers[0]!.image}"`;
        const changed = await writeStatus(pod, waitingStatus(pod, now, 'ImagePullBackOff', message));
        if (changed) {
          kubeletEvents.event(pod, 'Warning', 'Failed', 'Error: ImagePullBackOff');
        }
        return;
      }
      const ready = behaviour.outcome !== 'never-ready' && behaviour.outcome !== 'crash-loop';
      await writeStatus(pod, runningStatus(pod, now, addresses(pod), ready && behaviour.readyDelayMs === 0));
      for (const container of pod.spec.containers) {
        kubeletEvents.event(pod, 'Normal', 'Started', `Started container ${container.name}`);
      }
      return;
    }
    const first = pod.status.containerStatuses?.[0];
    const restarts = first?.restartCount ?? 0;
    const mayRestart =
      pod.spec.restartPolicy === 'Always' || (pod.spec.restartPolicy === 'OnFailure' && ending.exitCode !== 0);
    const endsAfter = behaviour.outcome === 'crash-loop' ? 0 : behaviour.runMs;
    if (first?.state?.['waiting']?.['reason'] === 'CrashLoopBackOff') {
      const isCured = !['crash-loop', 'fail'].includes(behaviour.outcome);
      if (isCured || hasWaited(pod, `back-off ${restarts}`, backOffMs(restarts))) {
        await writeStatus(pod, restartedStatus(pod, now, addresses(pod), isCured));
      }
      return;
    }
    if (['succeed', 'fail', 'crash-loop'].includes(behaviour.outcome)) {
      if (!hasWaited(pod, `running ${restarts}`, endsAfter)) {
        return;
      }
      if (!mayRestart) {
        await writeStatus(pod, finishedStatus(pod, now, addresses(pod), ending));
        return;
      }
      const delay = `${backOffMs(restarts) / 1_000}s`;
      await writeStatus(pod, backOffStatus(pod, now, addresses(pod), ending, delay));
      kubeletEvents.event(
        pod,
        'Warning',
        'BackOff',
        `Back-off restarting failed container ${first!.name} in pod ${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`,
      );
      return;
    }
    const isReady = behaviour.outcome === 'run' && hasWaited(pod, 'becoming ready', behaviour.readyDelayMs);
    await writeStatus(pod, runningStatus(pod, now, addresses(pod), isReady));
  }

  function backOffMs(restarts: number): number {
    return Math.min(LAST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(restarts, 10));
  }

  /** Whether the pod has been in `state` for `delayMs`; if not, looks again when it will have been. */
  function hasWaited(pod: Pod, state: string, delayMs: number): boolean {
    const uid = pod.metadata.uid!;
    const known = entered.get(uid);
    const at = known?.state === state ? known.at : clock.now();
    entered.set(uid, { state, at });
    const left = at + delayMs - clock.now();
    if (left <= 0) {
      return true;
    }
    queue.addAfter(objectKey(pod), left);
    return false;
  }

  function addresses(pod: Pod): { hostIP: string; podIP: string } {
    const node = nodes.get(undefined, pod.spec.nodeName!) as Node | undefined;
    const hostIP = node?.status?.addresses?.find((each) => each.type === 'InternalIP')?.address ?? '10.9.9.9';
    return { hostIP, podIP: pod.spec.hostNetwork ? hostIP : (pod.status?.podIP ?? podIPOf(pod)) };
  }

  function podIPOf(pod: Pod): string {
    const known = podIPs.get(pod.metadata.uid!);
    if (known) {
      return known;
    }
    const taken = new Set([...(pods.list() as Iterable<Pod>)].map((each) => each.status?.podIP));
    do {
      lastIP = (lastIP + 1) % 65_536;
    } while (lastIP === 0 || taken.has(ipOf(lastIP)));
    podIPs.set(pod.metadata.uid!, ipOf(lastIP));
    return ipOf(lastIP);
  }

  async function writeStatus(pod: Pod, status: PodStatus): Promise<boolean> {
    if (stableJson(status) === stableJson(pod.status ?? {})) {
      return false;
    }
    const { namespace, name } = pod.metadata;
    await client.update({ ...PODS, namespace, name: name!, subresource: 'status' }, { ...pod, status });
    return true;
  }

  const enqueueAll = () => {
    for (const pod of pods.list()) {
      queue.add(objectKey(pod));
    }
  };
  const unsubscribers = [
    pods.subscribe(({ object, deleted }) => {
      if (deleted) {
        entered.delete(object.metadata.uid!);
        podIPs.delete(object.metadata.uid!);
      } else {
        queue.add(objectKey(object));
      }
    }),
    nodes.subscribe(({ object, previous, deleted }) => {
      const isNews =
        deleted ||
        !previous ||
        stableJson(object['spec']) !== stableJson(previous['spec']) ||
        stableJson(object.metadata.labels) !== stableJson(previous.metadata.labels);
      if (isNews) {
        enqueueAll();
      }
    }),
    rules.onChange(enqueueAll),
  ];
  return {
    stop() {
      unsubscribers.forEach((unsubscribe) => unsubscribe());
      queue.stop();
    },
  };
}

function ipOf(number: number): string {
  return `10.1.${number >> 8}.${number & 255}`;
}

/** Keeps `count` simulated nodes in the cluster, Ready and without the taint that new nodes get. */
export function startSimulatedNodes(context: ControllerContext, count: number): RunningController {
  const { client, clock, informers, log } = context;
  const nodes = informers.of('', 'v1', 'nodes');
  const NODES = { group: '', version: 'v1', plural: 'nodes' };
  const names = Array.from({ length: count }, (_, index) => `sim-node-${index}`);

  const queue = new WorkQueue({
    name: 'simulated nodes',
    clock,
    log,
    async process(name) {
      await nodes.synced();
      let node = nodes.get(undefined, name) as Node | undefined;
      if (!node) {
        if (!names.includes(name)) {
          return;
        }
        node = (await client.create(NODES, newNode(name, names.indexOf(name)))) as Node;
      }
      if (node.metadata.annotations?.[SIMULATED] === undefined || node.metadata.deletionTimestamp !== undefined) {
        return;
      }
      const taints = node.spec.taints?.filter((taint) => taint.key !== 'node.kubernetes.io/not-ready') ?? [];
      if (taints.length !== (node.spec.taints?.length ?? 0)) {
        node = (await client.patch({ ...NODES, name }, 'merge', {
          spec: { taints: taints.length > 0 ? cloneJson(taints as never) : null },
        })) as Node;
      }
      if (conditionOf(node.status, 'Ready')?.status !== 'True') {
        const status = { ...node.status, ...readyStatus(name, names.indexOf(name), kubeTime(clock.now())) };
        await client.update({ ...NODES, name, subresource: 'status' }, { ...node, status });
      }
    },
  });
  names.forEach((name) => queue.add(name));
  const unsubscribe = nodes.subscribe(({ object, deleted }) => {
    if (!deleted) {
      queue.add(object.metadata.name!);
    }
  });
  return {
    stop() {
      unsubscribe();
      queue.stop();
    },
  };
}

function newNode(name: string, index: number): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
      },
      annotations: { [SIMULATED]: 'true' },
    },
    spec: { podCIDR: `10.1.${index}.0/24` },
  };
}

function readyStatus(name: string, index: number, now: string): NonNullable<Node['status']> {
  const resources = { cpu: '32', memory: '256Gi', pods: '110', 'ephemeral-storage': '1Ti' };
  const healthy = (type: string, reason: string, message: string, status = 'False') => ({
    type,
    status,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
    reason,
    message,
  });
  return {
    capacity: resources,
    allocatable: resources,
    conditions: [
      healthy('MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
      healthy('DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
      healthy('PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
      healthy('Ready', 'KubeletReady', 'kubelet is posting ready status', 'True'),
    ],
    addresses: [
      { type: 'InternalIP', address: `10.9.9.${index + 1}` },
      { type: 'Hostname', address: name },
    ],
    nodeInfo: {
      architecture: 'amd64',
      bootID: '',
      containerRuntimeVersion: 'simulated://1',
      kernelVersion: '',
      kubeProxyVersion: '',
      kubeletVersion: 'simulated',
      machineID: '',
      operatingSystem: 'linux',
      osImage: 'simulated',
      systemUUID: '',
    },
  };
}
