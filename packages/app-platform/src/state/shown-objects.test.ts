import type { ConfigMap, KubeObject } from '@slipway/kube';
import { expect, test } from 'vitest';

import type { ApplicationStatus } from '../argo/application.ts';
import { shownObjects } from './shown-objects.ts';

function told(name: string | undefined, object: Omit<KubeObject, 'apiVersion' | 'kind' | 'metadata'>) {
  const shown = shownObjects.find((each) => each.name === name)!;
  return shown.stateOf({ apiVersion: shown.kind.apiVersion, kind: shown.kind.kind, metadata: {}, ...object });
}

const record = (name: string, data: ConfigMap['data']) => told(name, { data });
const application = (status?: ApplicationStatus) => told(undefined, { status });

test('a record is well with the status its work ends with, says why not while it lasts, and tells nothing before its first status', () => {
  expect(record('apl-installation-status', {})).toBeUndefined();
  expect(record('apl-installation-status', { status: 'in-progress', attempt: '2' })).toEqual({
    state: 'in-progress',
    message: 'attempt 2',
  });
  expect(record('apl-installation-status', { status: 'failed', attempt: '2', error: 'no charts' })).toEqual({
    state: 'failed',
    good: false,
    message: 'no charts',
  });
  const timestamp = '2026-01-02T03:04:05.000Z';
  expect(record('apl-installation-status', { status: 'completed', attempt: '3', timestamp })).toEqual({
    state: 'completed',
    good: true,
    since: timestamp,
  });
  expect(record('deployment-status', { status: 'deploying', version: '1', deployingVersion: '2' })?.message).toBe(
    'version 2',
  );
  const apply = { commitHash: '0123456789', trigger: 'poll', status: 'in-progress' };
  expect(record('apl-operator-state', apply)?.message).toBe('poll of 0123456');
});

test('an Application is well when it is in step and healthy, and else says its first problem', () => {
  expect(application()).toEqual({ state: 'Unknown, Unknown', message: '' });
  const sync = { status: 'Synced' } as ApplicationStatus['sync'] & object;
  const lastTransitionTime = '2026-01-02T03:04:05Z';
  expect(application({ sync, health: { status: 'Healthy', lastTransitionTime } })).toEqual({
    state: 'Synced, Healthy',
    good: true,
    since: lastTransitionTime,
  });
  const health = { status: 'Degraded', message: 'its pods crash' } as const;
  expect(application({ sync, health })).toEqual({ state: 'Synced, Degraded', message: 'its pods crash' });
  const conditions = [{ type: 'ComparisonError', message: 'no such branch' }] as ApplicationStatus['conditions'] &
    object;
  expect(application({ sync, health, conditions })?.message).toBe('no such branch');
});
