import type { KubeObject } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { diffObjects } from './diff.ts';
import { planText } from './plan.ts';

const base: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', resourceVersion: '1' },
  data: { k: 'old', gone: 'x' },
};

describe('diffObjects', () => {
  test('names each field, leaves server bookkeeping out', () => {
    const next: KubeObject = {
      ...base,
      metadata: { name: 'a', resourceVersion: '2', labels: { 'app.kubernetes.io/name': 'n' } },
      data: { k: 'new', more: 'y' },
    };
    expect(diffObjects(base, next)).toEqual([
      { path: 'metadata.labels', to: { 'app.kubernetes.io/name': 'n' } },
      { path: 'data.k', from: 'old', to: 'new' },
      { path: 'data.gone', from: 'x' },
      { path: 'data.more', to: 'y' },
    ]);
  });

  test('list elements are matched by name', () => {
    const pod = (image: string, first: boolean): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: {
        containers: first ? [{ name: 'side' }, { name: 'web', image }] : [{ name: 'web', image }, { name: 'side' }],
      },
    });
    expect(diffObjects(pod('a', true), pod('b', false))).toEqual([
      { path: 'spec.containers[name=web].image', from: 'a', to: 'b' },
    ]);
  });

  test('a changed Secret value shows as changed and not as itself', () => {
    const secret = (value: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      data: { password: value },
    });
    const changes = diffObjects(secret('aHVudGVyMg=='), secret('bmV3'));
    expect(changes.map((change) => change.path)).toEqual(['data.password']);
    const text = planText([
      { ref: { group: '', kind: 'Secret', namespace: 'n', name: 's' }, action: 'change', changes },
    ]);
    expect(text).toMatch(/\*\*\* \([0-9a-f]{6}\) → \*\*\*/);
    expect(text).not.toContain('aHVudGVyMg');
    expect(text).not.toContain('bmV3');
  });
});

test('a plan in which nothing happens says so', () => {
  expect(
    planText([{ ref: { group: '', kind: 'ConfigMap', namespace: '', name: 'a' }, action: 'none', changes: [] }]),
  ).toBe('nothing to do (1 unchanged)');
});
