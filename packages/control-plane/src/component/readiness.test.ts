import { expect, test } from 'vitest';

import type { ReadonlyComponent } from './component-resource.ts';
import { isComponentReady, isDependencyReady } from './readiness.ts';

interface Facts {
  generation?: number;
  labels?: Record<string, string>;
  observed?: { resource: number; managedControlPlane: number; internalConfiguration: number };
  conditions?: { type: string; status: string }[];
}

function component(facts: Facts = {}): ReadonlyComponent {
  return {
    apiVersion: 'core.openmcp.cloud/v1alpha1',
    kind: 'APIServer',
    metadata: {
      name: 'demo',
      generation: facts.generation ?? 2,
      labels: facts.labels ?? { 'openmcp.cloud/mcp-generation': '7' },
    },
    status: {
      conditions: facts.conditions ?? [{ type: 'APIServerHealthy', status: 'True' }],
      observedGenerations: facts.observed ?? { resource: 2, managedControlPlane: 7, internalConfiguration: -1 },
    },
  };
}

const own = { managedControlPlane: 7, internalConfiguration: -1 };

test('a component is ready that has seen its newest spec and whose conditions are all True', () => {
  expect(isComponentReady(component())).toBe(true);
});

const unready: readonly (readonly [why: string, facts: Facts])[] = [
  ['it has not seen its own newest spec', { generation: 3 }],
  ['it has not seen the newest ManagedControlPlane', { labels: { 'openmcp.cloud/mcp-generation': '8' } }],
  [
    'it has not seen the InternalConfiguration',
    { labels: { 'openmcp.cloud/mcp-generation': '7', 'openmcp.cloud/ic-generation': '1' } },
  ],
  ['its label is missing', { labels: {} }],
  ['its label is no number', { labels: { 'openmcp.cloud/mcp-generation': 'seven' } }],
  [
    'a condition is False',
    {
      conditions: [
        { type: 'A', status: 'True' },
        { type: 'B', status: 'False' },
      ],
    },
  ],
  ['a private condition is Unknown', { conditions: [{ type: 'private', status: 'Unknown' }] }],
];

test.each(unready)('a component is not ready when %s', (_why, facts) => {
  expect(isComponentReady(component(facts))).toBe(false);
});

test('a component without a status is not ready', () => {
  expect(isComponentReady({ ...component(), status: undefined })).toBe(false);
});

test('only the named conditions count, and they have to exist', () => {
  const mixed = component({
    conditions: [
      { type: 'A', status: 'True' },
      { type: 'B', status: 'False' },
    ],
  });
  expect(isComponentReady(mixed, 'A')).toBe(true);
  expect(isComponentReady(mixed, 'A', 'B')).toBe(false);
  expect(isComponentReady(mixed, 'C')).toBe(false);
});

test('a dependency is ready only for who was made from the same generations', () => {
  expect(isDependencyReady(component(), own)).toBe(true);
  expect(isDependencyReady(component(), { ...own, managedControlPlane: 8 })).toBe(false);
  expect(isDependencyReady(component(), { ...own, internalConfiguration: 1 })).toBe(false);
});
