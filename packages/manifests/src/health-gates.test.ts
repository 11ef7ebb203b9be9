import type { KubeObject } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { annotations } from './annotations.ts';
import { HealthGates } from './health-gates.ts';
import { refOf } from './identity.ts';
import type { Health } from './health.ts';

function object(kind: string, name: string, marks: Record<string, string> = {}): KubeObject {
  return { apiVersion: 'v1', kind, metadata: { namespace: 'default', name, annotations: marks } };
}

const names = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name);

function noted(gates: HealthGates, label: string, members: readonly [KubeObject, Health['status']][]): HealthGates {
  gates.note(
    { label, objects: members.map(([member]) => member) },
    members.map(([member, status]) => ({
      ref: refOf(member),
      action: 'unchanged',
      health: { status, message: '' },
    })),
  );
  return gates;
}

const plain = object('Secret', 'plain');
const late = object('Secret', 'late', { [annotations.wave]: '200' });
const dependent = object('Secret', 'dependent', { [annotations.dependsOn]: 'core/Pod/default/db' });
const next = [plain, late, dependent];

describe('health holds up', () => {
  test('nobody when everybody before is healthy', () => {
    const gates = noted(new HealthGates(), '80', [[object('Pod', 'db'), 'Current']]);
    expect(names(gates.sort(next).held)).toEqual([]);
    expect(gates.openWave).toBeUndefined();
  });

  test('only those who asked to come later, when the order before follows from kinds', () => {
    const gates = noted(new HealthGates(), '80', [[object('Pod', 'web'), 'InProgress']]);
    expect(names(gates.sort(next).held)).toEqual(['late']);
    expect(gates.openWave).toBe('80');
  });

  test('those who depend on exactly that member', () => {
    const gates = noted(new HealthGates(), '80', [[object('Pod', 'db'), 'Failed']]);
    expect(names(gates.sort(next).held)).toEqual(['late', 'dependent']);
  });

  test('everybody after a member that asked for its wave', () => {
    const first = object('Job', 'migrate', { [annotations.wave]: '-5' });
    const gates = noted(new HealthGates(), '-5', [[first, 'InProgress']]);
    expect(names(gates.sort(next).ready)).toEqual([]);
  });

  test('nobody when the health of that member does not count', () => {
    const gates = noted(new HealthGates(() => false), '80', [[object('Pod', 'db'), 'InProgress']]);
    expect(names(gates.sort(next).held)).toEqual([]);
    expect(gates.openWave).toBeUndefined();
  });
});
