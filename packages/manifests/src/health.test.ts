import type { KubeObject } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { healthOf } from './health.ts';
import { HealthRules } from './health-rules.ts';

function object(apiVersion: string, kind: string, fields: Record<string, unknown>, generation = 2): KubeObject {
  return { apiVersion, kind, metadata: { name: 'x', generation }, ...fields };
}

const deployment = (status: Record<string, unknown>, replicas = 2) =>
  object('apps/v1', 'Deployment', { spec: { replicas }, status });
const rolledOut = {
  observedGeneration: 2,
  replicas: 2,
  updatedReplicas: 2,
  readyReplicas: 2,
  availableReplicas: 2,
  conditions: [{ type: 'Available', status: 'True' }],
};

describe('healthOf', () => {
  test.each<[string, KubeObject, string, RegExp]>([
    ['a finished roll-out', deployment(rolledOut), 'Current', /2 of 2/],
    [
      'Available of an older generation does not count',
      deployment({ ...rolledOut, observedGeneration: 1 }),
      'InProgress',
      /generation 1 of 2/,
    ],
    ['a Deployment nobody has looked at', deployment({}), 'InProgress', /not seen/],
    [
      'replicas still on the old template',
      deployment({ ...rolledOut, updatedReplicas: 1 }),
      'InProgress',
      /1 of 2 replicas updated/,
    ],
    ['old replicas left', deployment({ ...rolledOut, replicas: 3 }), 'InProgress', /1 old/],
    [
      'an exceeded deadline',
      deployment({
        ...rolledOut,
        conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'stuck' }],
      }),
      'Failed',
      /stuck/,
    ],
    ['scaled to zero', deployment({ observedGeneration: 2 }, 0), 'Current', /0 of 0/],
    [
      'a StatefulSet with a revision under way',
      object('apps/v1', 'StatefulSet', {
        spec: { replicas: 1 },
        status: {
          observedGeneration: 2,
          replicas: 1,
          readyReplicas: 1,
          updatedReplicas: 1,
          currentRevision: 'a',
          updateRevision: 'b',
        },
      }),
      'InProgress',
      /revision/,
    ],
    [
      'a DaemonSet on all nodes',
      object('apps/v1', 'DaemonSet', {
        status: {
          observedGeneration: 2,
          desiredNumberScheduled: 1,
          currentNumberScheduled: 1,
          updatedNumberScheduled: 1,
          numberAvailable: 1,
          numberReady: 1,
        },
      }),
      'Current',
      /1 of 1/,
    ],
    [
      'a Job at work',
      object('batch/v1', 'Job', { spec: { completions: 3 }, status: { startTime: 'x', succeeded: 1 } }),
      'InProgress',
      /1 of 3/,
    ],
    [
      'a failed Job',
      object('batch/v1', 'Job', {
        status: { conditions: [{ type: 'Failed', status: 'True', message: 'BackoffLimitExceeded' }] },
      }),
      'Failed',
      /BackoffLimit/,
    ],
    [
      'a crash-looping Pod',
      object('v1', 'Pod', {
        status: {
          phase: 'Running',
          containerStatuses: [{ name: 'c', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
        },
      }),
      'Failed',
      /container c/,
    ],
    [
      'a load balancer without address',
      object('v1', 'Service', { spec: { type: 'LoadBalancer' }, status: {} }),
      'InProgress',
      /address/,
    ],
    [
      'a CRD not established',
      object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', { status: {} }),
      'InProgress',
      /established/,
    ],
    [
      'a CRD with taken names',
      object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
        status: { conditions: [{ type: 'NamesAccepted', status: 'False', message: 'taken' }] },
      }),
      'Failed',
      /taken/,
    ],
    ['a ConfigMap', object('v1', 'ConfigMap', {}), 'Current', /exists/],
    [
      'a custom resource that is not ready',
      object('example.com/v1', 'Widget', {
        status: { conditions: [{ type: 'Ready', status: 'False', message: 'waits' }] },
      }),
      'InProgress',
      /waits/,
    ],
    [
      'a stalled custom resource',
      object('example.com/v1', 'Widget', {
        status: { conditions: [{ type: 'Stalled', status: 'True', reason: 'NoLuck' }] },
      }),
      'Failed',
      /NoLuck/,
    ],
    ['status of the wrong type', object('example.com/v1', 'Widget', { status: 'fine', spec: 7 }), 'Current', /exists/],
  ])('%s', (_name, given, status, message) => {
    expect(healthOf(given)).toMatchObject({ status, message: expect.stringMatching(message) });
  });

  test('an object on its way out is terminating', () => {
    const given = deployment(rolledOut);
    given.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(healthOf(given).status).toBe('Terminating');
  });
});

describe('HealthRules', () => {
  const widget = (status?: unknown) => object('example.com/v1', 'Widget', status === undefined ? {} : { status });

  test("the user's rule comes before the built-in one", () => {
    const rules = new HealthRules([
      {
        group: 'example.com',
        kind: 'Widget',
        current: 'object.status.phase == "Up"',
        failed: 'object.status.phase == "Broken"',
      },
    ]);
    expect(rules.of(widget({ phase: 'Up' })).status).toBe('Current');
    expect(rules.of(widget({ phase: 'Broken' })).status).toBe('Failed');
    expect(rules.of(widget({ phase: 'Starting' })).status).toBe('InProgress');
    expect(rules.of(widget()).status).toBe('InProgress');
  });

  test('a rule may look at a field instead', () => {
    const rules = new HealthRules([
      {
        group: 'example.com',
        kind: 'Widget',
        current: { path: '.status.conditions[?(@.type=="Up")].status', equals: true },
        failed: { path: '.status.error' },
        message: { path: '.status.error' },
      },
    ]);
    const up = (status: unknown) => widget({ conditions: [{ type: 'Up', status }] });
    expect(rules.of(up('true')).status).toBe('Current');
    expect(rules.of(up(true)).status).toBe('Current');
    expect(rules.of(up('false')).status).toBe('InProgress');
    expect(rules.of(up({ deep: 'true' })).status).toBe('InProgress');
    expect(rules.of(widget()).status).toBe('InProgress');
    expect(rules.of(widget({ error: 'no disk' }))).toEqual({ status: 'Failed', message: 'no disk' });
    expect(rules.of(widget({ error: null })).status).toBe('InProgress');
  });

  test('a broken path is refused with the name of the rule', () => {
    const rule = { group: 'example.com', kind: 'Widget', current: { path: '.status[' } };
    expect(() => new HealthRules([rule])).toThrow(/health rule for Widget, current: "\.status\[" is not a path/);
  });

  test('a broken expression is refused with the name of the rule', () => {
    expect(() => new HealthRules([{ group: 'example.com', kind: 'Widget', current: 'object.status ==' }])).toThrow(
      /health rule for Widget, current/,
    );
  });
});

describe('a claim that is not bound', () => {
  const claim = (storageClassName: string | undefined, metadata: Record<string, unknown> = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', ...metadata },
    spec: { storageClassName },
    status: { phase: 'Pending' },
  });
  const facts = { lateBindingClasses: new Set(['late']) };
  const chosen = { annotations: { 'volume.kubernetes.io/selected-node': 'node-1' } };

  test.each([
    ['of a class that binds late has nothing to wait for', claim('late'), 'Current'],
    ['of such a class, once its pod has a node, is on its way', claim('late', chosen), 'InProgress'],
    ['of another class is on its way', claim('immediate'), 'InProgress'],
    ['of no class is on its way', claim(undefined), 'InProgress'],
  ])('%s', (_name, object, status) => {
    expect(healthOf(object, facts).status).toBe(status);
    expect(new HealthRules().of(object, facts).status).toBe(status);
  });

  test('is on its way when nothing is known of classes', () => {
    expect(healthOf(claim('late')).status).toBe('InProgress');
  });
});
