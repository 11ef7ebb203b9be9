import type { Condition, Container, ContainerStatus, Pod, PodStatus } from './kinds.ts';
import { conditionOf } from './pods.ts';

/** A pod condition whose time moves only when its status does. */
function podCondition(
  pod: Pod,
  type: string,
  status: string,
  now: string,
  reason?: string,
  message?: string,
): Condition {
  const old = conditionOf(pod.status, type);
  return {
    type,
    status,
    lastProbeTime: null,
    lastTransitionTime: old?.status === status && old.lastTransitionTime ? old.lastTransitionTime : now,
    ...(reason ? { reason } : {}),
    ...(message ? { message } : {}),
  };
}

/** The kubelet's four conditions, followed by whatever others set (readiness gates). */
function conditions(
  pod: Pod,
  now: string,
  verdict: { initialized: boolean; ready: boolean; containersReady: boolean; reason?: string; message?: string },
): Condition[] {
  const own = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  const text = (value: boolean) => (value ? 'True' : 'False');
  const { reason, message } = verdict;
  return [
    podCondition(pod, 'Initialized', text(verdict.initialized), now),
    podCondition(pod, 'Ready', text(verdict.ready), now, verdict.ready ? undefined : reason, message),
    podCondition(
      pod,
      'ContainersReady',
      text(verdict.containersReady),
      now,
      verdict.containersReady ? undefined : reason === 'ReadinessGatesNotReady' ? undefined : reason,
      message,
    ),
    podCondition(pod, 'PodScheduled', 'True', now),
    ...(pod.status?.conditions ?? []).filter((condition) => !own.includes(condition.type)),
  ];
}

export interface Addresses {
  readonly hostIP: string;
  readonly podIP: string;
}

function containerStatus(pod: Pod, container: Container, next: Partial<ContainerStatus>): ContainerStatus {
  const old = pod.status?.containerStatuses?.find((status) => status.name === container.name);
  return {
    name: container.name,
    state: {},
    lastState: old?.lastState ?? {},
    ready: false,
    restartCount: old?.restartCount ?? 0,
    image: container.image ?? '',
    imageID: '',
    ...next,
  };
}

function base(pod: Pod, phase: string, now: string, addresses: Addresses): PodStatus {
  const { containerStatuses: _, conditions: __, ...rest } = pod.status ?? {};
  return {
    ...rest,
    phase,
    hostIP: addresses.hostIP,
    hostIPs: [{ ip: addresses.hostIP }],
    podIP: addresses.podIP,
    podIPs: [{ ip: addresses.podIP }],
    startTime: pod.status?.startTime ?? now,
    ...(pod.spec.initContainers?.length ? { initContainerStatuses: initContainerStatuses(pod, now) } : {}),
  };
}

function initContainerStatuses(pod: Pod, now: string): ContainerStatus[] {
  const known = (pod.status?.['initContainerStatuses'] as ContainerStatus[] | undefined) ?? [];
  return pod.spec.initContainers!.map((container) => {
    const isSidecar = container.restartPolicy === 'Always';
    return (
      known.find((status) => status.name === container.name) ?? {
        name: container.name,
        state: isSidecar
          ? { running: { startedAt: now } }
          : { terminated: { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now } },
        lastState: {},
        ready: true,
        restartCount: 0,
        image: container.image ?? '',
        imageID: '',
        ...(isSidecar ? { started: true } : { started: false }),
      }
    );
  });
}

export function waitingStatus(pod: Pod, now: string, reason: string, message: string | undefined): PodStatus {
  const names = `containers with unready status: [${pod.spec.containers.map((each) => each.name).join(' ')}]`;
  return {
    ...pod.status,
    phase: 'Pending',
    startTime: pod.status?.startTime ?? now,
    conditions: conditions(pod, now, {
      initialized: true,
      ready: false,
      containersReady: false,
      reason: 'ContainersNotReady',
      message: names,
    }),
    containerStatuses: pod.spec.containers.map((container) =>
      containerStatus(pod, container, {
        state: { waiting: { reason, ...(message ? { message } : {}) } },
        started: false,
      }),
    ),
  };
}

export function runningStatus(pod: Pod, now: string, addresses: Addresses, isReady: boolean): PodStatus {
  const gates = pod.spec.readinessGates ?? [];
  const gatesOpen = gates.every((gate) => conditionOf(pod.status, gate.conditionType)?.status === 'True');
  const names = `containers with unready status: [${pod.spec.containers.map((each) => each.name).join(' ')}]`;
  const verdict = !isReady
    ? { reason: 'ContainersNotReady', message: names }
    : gatesOpen
      ? {}
      : { reason: 'ReadinessGatesNotReady', message: 'the status of pod readiness gates is not "True"' };
  return {
    ...base(pod, 'Running', now, addresses),
    conditions: conditions(pod, now, {
      initialized: true,
      ready: isReady && gatesOpen,
      containersReady: isReady,
      ...verdict,
    }),
    containerStatuses: pod.spec.containers.map((container) => {
      const running = pod.status?.containerStatuses?.find((each) => each.name === container.name)?.state?.['running'];
      return containerStatus(pod, container, {
        state: { running: running ?? { startedAt: now } },
        ready: isReady,
        started: true,
      });
    }),
  };
}

export interface Ending {
  readonly exitCode: number;
  readonly message?: string;
}

function terminatedState(pod: Pod, container: Container, now: string, ending: Ending) {
  const old = pod.status?.containerStatuses?.find((status) => status.name === container.name);
  return {
    exitCode: ending.exitCode,
    reason: ending.exitCode === 0 ? 'Completed' : 'Error',
    ...(ending.message ? { message: ending.message } : {}),
    startedAt: (old?.state?.['running']?.['startedAt'] as string | undefined) ?? now,
    finishedAt: now,
  };
}

/** All containers have ended and none will be restarted. */
export function finishedStatus(pod: Pod, now: string, addresses: Addresses, ending: Ending): PodStatus {
  const succeeded = ending.exitCode === 0;
  const reason = succeeded ? 'PodCompleted' : 'PodFailed';
  return {
    ...base(pod, succeeded ? 'Succeeded' : 'Failed', now, addresses),
    conditions: conditions(pod, now, { initialized: true, ready: false, containersReady: false, reason }),
    containerStatuses: pod.spec.containers.map((container) =>
      containerStatus(pod, container, {
        state: { terminated: terminatedState(pod, container, now, ending) },
        started: false,
      }),
    ),
  };
}

/** The first container has crashed and waits to be restarted; the others go on. */
export function backOffStatus(pod: Pod, now: string, addresses: Addresses, ending: Ending, delay: string): PodStatus {
  const [crashed, ...others] = pod.spec.containers;
  const message =
    `back-off ${delay} restarting failed container=${crashed!.name} ` +
    `pod=${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`;
  const names = `containers with unready status: [${crashed!.name}]`;
  return {
    ...base(pod, 'Running', now, addresses),
    conditions: conditions(pod, now, {
      initialized: true,
      ready: false,
      containersReady: false,
      reason: 'ContainersNotReady',
      message: names,
    }),
    containerStatuses: [
      containerStatus(pod, crashed!, {
        state: { waiting: { reason: 'CrashLoopBackOff', message } },
        lastState: { terminated: terminatedState(pod, crashed!, now, ending) },
        started: false,
      }),
      ...others.map((container) =>
        containerStatus(pod, container, { state: { running: { startedAt: now } }, ready: true, started: true }),
      ),
    ],
  };
}

/** The crashed container runs again. */
export function restartedStatus(pod: Pod, now: string, addresses: Addresses, isReady: boolean): PodStatus {
  const status = runningStatus(pod, now, addresses, isReady);
  const first = status.containerStatuses![0]!;
  first.restartCount += 1;
  first.state = { running: { startedAt: now } };
  return status;
}
