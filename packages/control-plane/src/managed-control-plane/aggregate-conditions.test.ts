import { expect, test } from 'vitest';

import type { ComponentCondition, ReadonlyComponent } from '../component/component-resource.ts';
import type { ComponentType } from '../component/component-type.ts';
import { type Aggregated, aggregateConditions, type McpCondition } from './aggregate-conditions.ts';

const nowMs = Date.parse('2026-02-02T00:00:00Z');
const now = '2026-02-02T00:00:00Z';

function aggregate(
  components: Partial<Record<ComponentType, readonly ComponentCondition[]>>,
  {
    expected = [],
    ignored = [],
    old = [],
  }: { expected?: ComponentType[]; ignored?: ComponentType[]; old?: McpCondition[] } = {},
): Aggregated {
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
  return aggregateConditions({ existing, ignored: new Set(ignored), expected: new Set(expected), old, nowMs });
}

const good = (type: string): ComponentCondition => ({ type, status: 'True' });

test('Conditions: all of them are merged, in the order of their components, the aggregate last', () => {
  const { conditions: list } = aggregate({
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
  const { conditions } = aggregate({ APIServer: [{ type: 'secretState', status: 'False' }] });
  expect(conditions.map(({ type }) => type)).toEqual(['MCPSuccessful']);
});

test('components that failed are named with reason and message', () => {
  const failed = (type: string, reason: string, message: string) => ({
    type,
    status: 'False' as const,
    reason,
    message,
  });
  const { conditions: list } = aggregate({
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
  const said = { ...good('AuthenticationReconciliation'), message: 'said\nmore' };
  const [only] = aggregate({ Authentication: [said] }).conditions;
  expect(only?.message).toBe('Authentication: said\n\tmore');
});

test('Conditions: a type of condition that two components have is an error of the second, and harms no other', () => {
  const { conditions, clashes } = aggregate({
    APIServer: [good('Ready')],
    Landscaper: [{ ...good('Ready'), status: 'False' }, good('LandscaperHealthy')],
  });
  const text =
    "internal error: component 'Landscaper' has condition 'Ready', but that condition is already managed by component 'APIServer'; the author of one of them has to rename it";
  expect(clashes.map(({ message }) => message)).toEqual([text]);
  expect(conditions).toMatchObject([
    { type: 'Ready', status: 'True', managedBy: 'APIServer' },
    { type: 'LandscaperHealthy', status: 'True', managedBy: 'Landscaper' },
    {
      type: 'MCPSuccessful',
      status: 'False',
      message: `The following components could not be reconciled successfully:\n\tLandscaper: [DuplicateCondition] ${text}`,
    },
  ]);
});

test('a component others have ignored is Unknown, whatever it said before', () => {
  const { conditions } = aggregate(
    { APIServer: [good('APIServerHealthy')] },
    { expected: ['APIServer', 'Landscaper'], ignored: ['Landscaper'] },
  );
  expect(conditions[1]).toMatchObject({
    type: 'Landscaper',
    status: 'Unknown',
    reason: 'ComponentIgnored',
    message: expect.stringContaining('Remove the annotation'),
  });
});

test('a component that should have something to say and does not is Unknown', () => {
  const [first] = aggregate({ APIServer: [] }, { expected: ['APIServer'] }).conditions;
  expect(first).toMatchObject({ type: 'APIServer', status: 'Unknown', reason: 'NoConditions', managedBy: 'APIServer' });
  expect(aggregate({ APIServer: [] }).conditions).toHaveLength(1);
});

test('the time of the aggregate moves only when its status does', () => {
  const before = '2026-01-01T00:00:00Z';
  const old = [{ type: 'MCPSuccessful', status: 'True', managedBy: '', lastTransitionTime: before }];
  expect(aggregate({}, { old }).conditions[0]?.lastTransitionTime).toBe(before);
  const failed = [{ type: 'APIServerReconciliation', status: 'False' as const }];
  expect(aggregate({ APIServer: failed }, { old }).conditions[0]?.lastTransitionTime).toBe(now);
});
