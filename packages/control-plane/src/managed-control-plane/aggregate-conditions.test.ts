import { expect, test } from 'vitest';

import type { ComponentCondition, ReadonlyComponent } from '../component/component-resource.ts';
import type { ComponentType } from '../component/component-type.ts';
import { aggregateConditions, type McpCondition } from './aggregate-conditions.ts';

const nowMs = Date.parse('2026-02-02T00:00:00Z');
const now = '2026-02-02T00:00:00Z';

function aggregate(
  components: Partial<Record<ComponentType, readonly ComponentCondition[]>>,
  { expected = [], old = [] }: { expected?: ComponentType[]; old?: McpCondition[] } = {},
): McpCondition[] {
  const existing = new Map(
    Object.entries(components).map(([type, conditions]) => [
      type as ComponentType,
      {
        apiVersion: '',
        kind: type,
        metadata: { name: 'demo' },
        status: { conditions: [...conditions] },
      } as ReadonlyComponent,
    ]),
  );
  return aggregateConditions({ existing, expected: new Set(expected), old, nowMs });
}

const good = (type: string): ComponentCondition => ({ type, status: 'True' });

test('Conditions: all of them are merged, in the order of their components, the aggregate last', () => {
  const list = aggregate({
    Landscaper: [good('LandscaperHealthy'), good('LandscaperReconciliation')],
    APIServer: [good('ClusterReady'), good('APIServerHealthy')],
  });
  expect(list.map(({ managedBy, type }) => `${managedBy}/${type}`)).toEqual([
    'APIServer/APIServerHealthy',
    'APIServer/ClusterReady',
    'Landscaper/LandscaperHealthy',
    '/MCPSuccessful',
  ]);
  expect(list.at(-1)).toEqual({
    type: 'MCPSuccessful',
    status: 'True',
    reason: 'AllComponentsReconciledSuccessfully',
    managedBy: '',
    lastTransitionTime: now,
  });
});

test('a condition whose type begins in lower case stays private', () => {
  expect(aggregate({ APIServer: [{ type: 'secretState', status: 'False' }] }).map(({ type }) => type)).toEqual([
    'MCPSuccessful',
  ]);
});

test('components that failed are named with reason and message', () => {
  const failed = (type: string, reason: string, message: string) => ({
    type,
    status: 'False' as const,
    reason,
    message,
  });
  const list = aggregate({
    Landscaper: [failed('LandscaperReconciliation', 'B', 'second')],
    APIServer: [failed('APIServerReconciliation', 'A', 'first')],
    Authentication: [{ ...good('AuthenticationReconciliation'), message: 'said\nmore' }],
  });
  expect(list).toEqual([
    {
      type: 'MCPSuccessful',
      status: 'False',
      reason: 'NotAllComponentsReconciledSuccessfully',
      message:
        'The following components could not be reconciled successfully:\n\tAPIServer: [A] first\n\tLandscaper: [B] second',
      managedBy: '',
      lastTransitionTime: now,
    },
  ]);
});

test('what components that succeeded have to say is told, line after line', () => {
  const [only] = aggregate({ Authentication: [{ ...good('AuthenticationReconciliation'), message: 'said\nmore' }] });
  expect(only?.message).toBe('Authentication: said\n\tmore');
});

test('Conditions: a type of condition that two components have is an error', () => {
  expect(() => aggregate({ APIServer: [good('Ready')], Landscaper: [good('Ready')] })).toThrow(
    "internal error: component 'Landscaper' has condition 'Ready', but that condition is already managed by component 'APIServer'",
  );
});

test('a component that should have something to say and does not is Unknown', () => {
  const [first] = aggregate({ APIServer: [] }, { expected: ['APIServer'] });
  expect(first).toMatchObject({ type: 'APIServer', status: 'Unknown', reason: 'NoConditions', managedBy: 'APIServer' });
  expect(aggregate({ APIServer: [] })).toHaveLength(1);
});

test('the time of the aggregate moves only when its status does', () => {
  const before = '2026-01-01T00:00:00Z';
  const old = [{ type: 'MCPSuccessful', status: 'True', managedBy: '', lastTransitionTime: before }];
  expect(aggregate({}, { old })[0]?.lastTransitionTime).toBe(before);
  const failed = [{ type: 'APIServerReconciliation', status: 'False' as const }];
  expect(aggregate({ APIServer: failed }, { old })[0]?.lastTransitionTime).toBe(now);
});
