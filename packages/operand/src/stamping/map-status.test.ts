import { describe, expect, test } from 'vitest';

import type { Operand } from '../api.ts';
import { mapStatus } from './map-status.ts';

function operand(ready: { status: string; reason: string } | undefined, observed: number): Operand {
  return {
    apiVersion: 'operand.run.cloud.google.com/v1alpha1',
    kind: 'Operand',
    metadata: { name: 'shop', generation: 2 },
    spec: { checkDeploymentHealth: true },
    status: {
      observedGeneration: observed,
      conditions: ready ? [{ type: 'Ready', message: 'says so', lastTransitionTime: '', ...ready }] : [],
    },
  } as Operand;
}

describe('what a stamper makes of an Operand', () => {
  test.each([
    ['never looked at', undefined, 0, 'waiting'],
    ['waiting', { status: 'False', reason: 'Waiting' }, 2, 'waiting'],
    ['being created', { status: 'Unknown', reason: 'Creating' }, 2, 'waiting'],
    ['planned only', { status: 'Unknown', reason: 'Planned' }, 2, 'waiting'],
    ['failed', { status: 'False', reason: 'Failed' }, 2, 'failed'],
    ['over its deadline', { status: 'False', reason: 'ProgressDeadlineExceeded' }, 2, 'failed'],
    ['refused to prune', { status: 'False', reason: 'PruneRefused' }, 2, 'failed'],
    ['ready for an older generation', { status: 'True', reason: 'Installed' }, 1, 'waiting'],
    ['ready', { status: 'True', reason: 'Installed' }, 2, 'ready'],
  ])('%s', (_what, ready, observed, state) => {
    const mapped = mapStatus(operand(ready, observed));
    expect(mapped.state).toBe(state);
    expect(mapped.message).not.toBe('');
  });
});
