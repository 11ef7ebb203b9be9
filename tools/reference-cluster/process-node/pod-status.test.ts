import { describe, expect, it } from 'vitest';
import { type ContainerRecord, newRecord, type PodCondition, type PodFacts, podStatus } from './pod-status.ts';
import type { RunnablePod } from './running-pod.ts';

const at = '2026-01-01T00:00:00Z';
const running: ContainerRecord = {
  ...newRecord(),
  state: { running: { startedAt: at } },
  ready: true,
  started: true,
};
const ended = (exitCode: number, done = true): ContainerRecord => ({
  ...newRecord(),
  state: { terminated: { exitCode, reason: exitCode ? 'Error' : 'Completed', startedAt: at, finishedAt: at } },
  done,
});

const image = 'i';
function statusOf(records: Record<string, ContainerRecord>, spec: Partial<RunnablePod['spec']> = {}, facts = {}) {
  const all: PodFacts = {
    pod: {
      metadata: { name: 'p', namespace: 'n', uid: 'u' },
      spec: { containers: [{ name: 'main', image }], ...spec },
    },
    hostAddress: '198.18.0.1',
    podAddress: '198.18.0.2',
    startTime: at,
    now: at,
    sandboxReady: true,
    records: new Map(Object.entries(records)),
    before: [],
    ...facts,
  };
  return podStatus(all);
}
const conditionsOf = ({ conditions }: { conditions: PodCondition[] }) =>
  Object.fromEntries(conditions.map(({ type, status, reason }) => [type, reason ? `${status} ${reason}` : status]));

describe('the status of a pod', () => {
  it('is Pending, with an address but unready, while its containers are created', () => {
    const status = statusOf({ main: newRecord() });
    expect(status).toMatchObject({ phase: 'Pending', podIP: '198.18.0.2' });
    expect(conditionsOf(status)).toMatchObject({ Ready: 'False ContainersNotReady', Initialized: 'True' });
  });

  it('is Running and ready when every container is', () => {
    const status = statusOf({ main: running });
    expect(status.phase).toBe('Running');
    expect(conditionsOf(status)).toEqual({
      PodReadyToStartContainers: 'True',
      Initialized: 'True',
      Ready: 'True',
      ContainersReady: 'True',
      PodScheduled: 'True',
    });
  });

  it('stays Running while a container waits in CrashLoopBackOff, and shows why it ended last', () => {
    const waiting = { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: ended(2).state, restartCount: 3 };
    const status = statusOf({ main: { ...newRecord(), ...waiting } });
    expect(status).toMatchObject({
      phase: 'Running',
      containerStatuses: [{ ready: false, ...waiting }],
    });
    const ready = status.conditions.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({ status: 'False', message: 'containers with unready status: [main]' });
  });

  it('is Succeeded or Failed by how its containers ended for good', () => {
    expect(statusOf({ main: ended(0) }).phase).toBe('Succeeded');
    expect(conditionsOf(statusOf({ main: ended(0) }))).toMatchObject({ Ready: 'False PodCompleted' });
    expect(statusOf({ main: ended(1) }).phase).toBe('Failed');
    expect(statusOf({ main: ended(1, false) }).phase).toBe('Running');
  });

  it('waits for init containers, which count as ready when they have succeeded', () => {
    const spec = { initContainers: [{ name: 'first', image }] };
    const before = statusOf({ first: { ...running, ready: false }, main: newRecord() }, spec);
    expect(before.phase).toBe('Pending');
    expect(conditionsOf(before)).toMatchObject({ Initialized: 'False ContainersNotInitialized' });
    const after = statusOf({ first: ended(0), main: running }, spec);
    expect(after).toMatchObject({ phase: 'Running', initContainerStatuses: [{ name: 'first', ready: true }] });
    expect(statusOf({ first: ended(1), main: newRecord() }, spec).phase).toBe('Failed');
  });

  it('keeps the time of a condition that does not change its status', () => {
    const later = '2026-01-01T00:01:00Z';
    const { conditions } = statusOf({ main: running });
    const unready = statusOf({ main: { ...running, ready: false } }, {}, { now: later, before: conditions }).conditions;
    const times = Object.fromEntries(unready.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]));
    expect(times).toMatchObject({ Ready: later, ContainersReady: later, Initialized: at });
  });

  it('is not ready before its readiness gates are', () => {
    const spec = { readinessGates: [{ conditionType: 'example.com/gate' }] };
    expect(conditionsOf(statusOf({ main: running }, spec))).toMatchObject({
      Ready: 'False ReadinessGatesNotReady',
      ContainersReady: 'True',
    });
  });
});
