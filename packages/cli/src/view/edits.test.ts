import type { KubeObject } from '@slipway/kube';
import { expect, test } from 'vitest';

import { Edits } from './edits.ts';

/** A Deployment with so many replicas, which `owner` has said last. */
function deployment(replicas: number, owner: string, time = '1'): KubeObject {
  const entry = (manager: string, fieldsV1: object) => ({ manager, operation: 'Apply', time, fieldsV1 });
  const owned = { 'f:spec': { 'f:replicas': {}, 'f:template': {} } };
  const rest = { 'f:spec': { 'f:template': {} } };
  const managedFields = owner === 'slipway' ? [entry('slipway', owned)] : [entry('slipway', rest), entry(owner, owned)];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', managedFields: managedFields as never },
    spec: { replicas },
  };
}

test('what another writes back is an edit undone', () => {
  const edits = new Edits();
  const wanted = deployment(2, 'slipway');
  const edited = deployment(5, 'kubectl-edit');
  expect(edits.observe('web', wanted, edited)).toEqual({
    type: 'changed',
    fields: ['spec.replicas'],
    by: 'kubectl-edit',
  });
  expect(edits.observe('web', edited, deployment(2, 'slipway', '2'))).toEqual({
    type: 'undone',
    fields: ['spec.replicas'],
    by: 'slipway',
  });
});

test('who goes back on his own change has changed it twice', () => {
  const edits = new Edits();
  const [first, second, third] = [
    deployment(2, 'slipway'),
    deployment(3, 'slipway', '2'),
    deployment(2, 'slipway', '3'),
  ];
  expect(edits.observe('web', first, second)).toMatchObject({ type: 'changed', by: 'slipway' });
  expect(edits.observe('web', second, third)).toMatchObject({ type: 'changed', by: 'slipway' });
});

test('labels, annotations and status are nobody’s edit', () => {
  const before = deployment(2, 'slipway');
  const after = { ...before, metadata: { ...before.metadata, annotations: { a: 'b' } }, status: { replicas: 2 } };
  expect(new Edits().observe('web', before, after)).toBeUndefined();
});
