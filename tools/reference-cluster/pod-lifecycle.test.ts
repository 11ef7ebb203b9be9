import { describe, expect, it } from 'vitest';
import { awaitsScheduling, fittingNodes, type Pod, settledStatus, type SimulatedNode } from './pod-lifecycle.ts';

const node = (name: string, labels: Record<string, string> = {}): SimulatedNode => ({
  name,
  address: '198.51.100.1',
  labels,
});

function pod(spec: Partial<Pod['spec']> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    metadata: { name: 'p', namespace: 'n', uid: 'u', ...metadata },
    spec: { containers: [{ name: 'main', image: 'app:1' }], restartPolicy: 'Always', ...spec },
  };
}

describe('scheduling', () => {
  it('waits only for pods that the default scheduler would take', () => {
    expect(awaitsScheduling(pod())).toBe(true);
    expect(awaitsScheduling(pod({ schedulerName: 'default-scheduler' }))).toBe(true);
    expect(awaitsScheduling(pod({ schedulerName: 'mine' }))).toBe(false);
    expect(awaitsScheduling(pod({ nodeName: 'a' }))).toBe(false);
    expect(awaitsScheduling(pod({ schedulingGates: [{ name: 'g' }] }))).toBe(false);
    expect(awaitsScheduling(pod({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }))).toBe(false);
  });

  it('honours the node selector', () => {
    const nodes = [node('a', { disk: 'ssd' }), node('b')];
    expect(fittingNodes(pod(), nodes)).toEqual(nodes);
    expect(fittingNodes(pod({ nodeSelector: { disk: 'ssd' } }), nodes)).toEqual([nodes[0]]);
    expect(fittingNodes(pod({ nodeSelector: { disk: 'hdd' } }), nodes)).toEqual([]);
  });

  it('puts a pod of a DaemonSet on the node it is meant for', () => {
    const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] }];
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
    expect(fittingNodes(pod({ affinity }), [node('a'), node('b')]).map(({ name }) => name)).toEqual(['b']);
  });
});

describe('settled status', () => {
  const now = new Date('2026-01-02T03:04:05.678Z');
  const statusOf = (of: Pod) =>
    settledStatus(of, node('a'), '10.0.0.1', now) as {
      phase: string;
      podIP: string;
      conditions: { type: string; status: string; lastTransitionTime: string }[];
      containerStatuses: { ready: boolean; state: object }[];
      initContainerStatuses?: { ready: boolean; state: object }[];
    };
  const conditionOf = (of: Pod, type: string) => statusOf(of).conditions.find((condition) => condition.type === type);

  it('runs and is ready when the work goes on forever', () => {
    const status = statusOf(pod());
    expect(status).toMatchObject({ phase: 'Running', podIP: '10.0.0.1' });
    expect(status.containerStatuses).toMatchObject([{ ready: true, state: { running: {} } }]);
    expect(conditionOf(pod(), 'Ready')).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-02T03:04:05Z' });
  });

  it.each(['Never', 'OnFailure'])('has succeeded when the restart policy is %s', (restartPolicy) => {
    const status = statusOf(pod({ restartPolicy }));
    expect(status.phase).toBe('Succeeded');
    expect(status.containerStatuses).toMatchObject([{ ready: false, state: { terminated: { exitCode: 0 } } }]);
    expect(conditionOf(pod({ restartPolicy }), 'Ready')).toMatchObject({ status: 'False', reason: 'PodCompleted' });
  });

  it('has init containers behind it and sidecars beside it', () => {
    const initContainers = [
      { name: 'init', image: 'i' },
      { name: 'sidecar', image: 's', restartPolicy: 'Always' },
    ];
    expect(statusOf(pod({ initContainers })).initContainerStatuses).toMatchObject([
      { name: 'init', ready: true, state: { terminated: { exitCode: 0 } } },
      { name: 'sidecar', ready: true, state: { running: {} } },
    ]);
  });

  it('meets readiness gates', () => {
    const gated = pod({ readinessGates: [{ conditionType: 'example.com/in-balance' }] });
    expect(conditionOf(gated, 'example.com/in-balance')).toMatchObject({ status: 'True' });
  });
});
