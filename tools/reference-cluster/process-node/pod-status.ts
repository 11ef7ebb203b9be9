import type { Container, RunnablePod } from './running-pod.ts';

export type ContainerState =
  | { waiting: { reason: string; message?: string } }
  | { running: { startedAt: string } }
  | { terminated: { exitCode: number; signal?: number; reason: string; startedAt: string; finishedAt: string } };

/** What is known of one container. */
export interface ContainerRecord {
  state: ContainerState;
  lastState?: ContainerState;
  restartCount: number;
  /** It runs and its readiness probe passes. */
  ready: boolean;
  /** It runs and its startup probe has passed. */
  started: boolean;
  /** Nobody will start it again. */
  done: boolean;
}

export const newRecord = (): ContainerRecord => ({
  state: { waiting: { reason: 'PodInitializing' } },
  restartCount: 0,
  ready: false,
  started: false,
  done: false,
});

export interface PodCondition {
  type: string;
  status: 'True' | 'False';
  reason?: string;
  message?: string;
  lastTransitionTime: string;
  observedGeneration?: number;
}

export interface PodFacts {
  pod: RunnablePod;
  hostAddress: string;
  podAddress: string;
  startTime: string;
  now: string;
  /** The sandbox with its address is there. */
  sandboxReady: boolean;
  records: ReadonlyMap<string, ContainerRecord>;
  /** Conditions as last written, for the times of their transitions. */
  before: readonly PodCondition[];
}

/** The time as the API server writes it. */
export const timestamp = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, 'Z');

/** The status a kubelet writes for these facts. */
export function podStatus(facts: PodFacts): { phase: string; conditions: PodCondition[] } & Record<string, unknown> {
  const { pod, hostAddress, podAddress, startTime, records } = facts;
  const phase = podPhase(pod, records);
  return {
    phase,
    startTime,
    hostIP: hostAddress,
    hostIPs: [{ ip: hostAddress }],
    ...(facts.sandboxReady ? { podIP: podAddress, podIPs: [{ ip: podAddress }] } : {}),
    conditions: podConditions(facts, phase),
    ...(pod.spec.initContainers
      ? { initContainerStatuses: pod.spec.initContainers.map((one) => containerStatus(pod, one, records, true)) }
      : {}),
    containerStatuses: pod.spec.containers.map((one) => containerStatus(pod, one, records)),
  };
}

/** Pending until everything that comes first is done; then by what its containers did. */
export function podPhase({ spec }: RunnablePod, records: ReadonlyMap<string, ContainerRecord>): string {
  const inits = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy !== 'Always');
  const containers = spec.containers.map(({ name }) => records.get(name)!);
  if (inits.some(({ name }) => failedForGood(records.get(name)!))) return 'Failed';
  if (!inits.every(({ name }) => succeeded(records.get(name)!))) return 'Pending';
  if (containers.every(({ done }) => done)) return containers.every(succeeded) ? 'Succeeded' : 'Failed';
  return containers.every((record) => 'waiting' in record.state && !record.lastState) ? 'Pending' : 'Running';
}

const succeeded = (record: ContainerRecord) =>
  record.done && 'terminated' in record.state && record.state.terminated.exitCode === 0;
const failedForGood = (record: ContainerRecord) => record.done && !succeeded(record);

function podConditions(facts: PodFacts, phase: string): PodCondition[] {
  const { pod, records, sandboxReady, now, before } = facts;
  const { metadata, spec } = pod;
  const completed = phase === 'Succeeded' ? 'PodCompleted' : phase === 'Failed' ? 'PodFailed' : undefined;
  const notInitialized = names(spec.initContainers, ({ name, restartPolicy }) => {
    const record = records.get(name)!;
    return restartPolicy === 'Always' ? !record.started : !succeeded(record);
  });
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const unready = names([...sidecars, ...spec.containers], ({ name }) => !records.get(name)!.ready);
  const containersReady = verdict(unready, completed, 'ContainersNotReady', 'containers with unready status');
  const openGates = (spec.readinessGates ?? []).filter(
    ({ conditionType }) => !before.some(({ type, status }) => type === conditionType && status === 'True'),
  );
  const ready =
    containersReady.status === 'True' && openGates.length > 0
      ? {
          status: 'False' as const,
          reason: 'ReadinessGatesNotReady',
          message: openGates
            .map(
              ({ conditionType }) => `corresponding condition of pod readiness gate "${conditionType}" does not exist.`,
            )
            .join(', '),
        }
      : containersReady;
  const wanted: Omit<PodCondition, 'lastTransitionTime'>[] = [
    { type: 'PodReadyToStartContainers', status: sandboxReady && !completed ? 'True' : 'False' },
    {
      type: 'Initialized',
      ...verdict(notInitialized, undefined, 'ContainersNotInitialized', 'containers with incomplete status'),
      ...(phase === 'Succeeded' ? { reason: 'PodCompleted' } : {}),
    },
    { type: 'Ready', ...ready },
    { type: 'ContainersReady', ...containersReady },
    { type: 'PodScheduled', status: 'True' },
  ];
  return wanted.map((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    return {
      ...condition,
      ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
      lastTransitionTime: old?.status === condition.status ? old.lastTransitionTime : now,
    };
  });
}

function names(containers: readonly Container[] = [], which: (container: Container) => boolean): string[] {
  return containers.filter(which).map(({ name }) => name);
}

function verdict(
  failing: readonly string[],
  completed: string | undefined,
  reason: string,
  what: string,
): Pick<PodCondition, 'status' | 'reason' | 'message'> {
  if (completed) return { status: 'False', reason: completed };
  if (failing.length === 0) return { status: 'True' };
  return { status: 'False', reason, message: `${what}: [${failing.join(' ')}]` };
}

function containerStatus(
  { metadata }: RunnablePod,
  { name, image }: Container,
  records: ReadonlyMap<string, ContainerRecord>,
  isInit = false,
): Record<string, unknown> {
  const record = records.get(name)!;
  const { state, lastState, restartCount } = record;
  return {
    name,
    image,
    imageID: 'waiting' in state && !lastState ? '' : `process://${image}`,
    containerID: 'waiting' in state && !lastState ? '' : `process://${metadata.uid}/${name}/${restartCount}`,
    restartCount,
    // An init container that is done counts as ready.
    ready: record.ready || (isInit && succeeded(record)),
    started: record.started,
    state,
    lastState: lastState ?? {},
  };
}
