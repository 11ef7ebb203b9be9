import type { DeepReadonly, KubeObject } from '@slipway/kube';
import { groupOf, healthOf } from '@slipway/manifests';

import { healthCodes, type HealthCode } from '../argo/application.ts';
import { argo } from '../argo/words.ts';

export interface ArgoHealth {
  readonly status: HealthCode;
  readonly message?: string;
}

/** Built-in kinds that can be unwell. All others of them just exist, and Argo CD shows no health for them. */
const assessed = new Set([
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'ReplicaSet',
  'Job',
  'CronJob',
  'Pod',
  'Service',
  'PersistentVolumeClaim',
  'APIService',
  'CustomResourceDefinition',
]);

/** The health of an object in Argo CD's words; `undefined` for kinds that have none. */
export function argoHealth(object: DeepReadonly<KubeObject>): ArgoHealth | undefined {
  if (object.metadata.annotations?.[argo.ignoreHealthcheck] === 'true') return undefined;
  const group = groupOf(object.apiVersion);
  const isBuiltIn = !group.includes('.') || group.endsWith('.k8s.io');
  const conditions = (object['status'] as { conditions?: unknown[] } | undefined)?.conditions ?? [];
  if (isBuiltIn ? !assessed.has(object.kind) : conditions.length === 0) return undefined;
  if (isSuspended(object)) return { status: 'Suspended', message: `${object.kind} is suspended` };
  const { status, message } = healthOf(object);
  switch (status) {
    case 'Current':
      return { status: 'Healthy' };
    case 'InProgress':
    case 'Terminating':
      return { status: 'Progressing', message };
    case 'Failed':
      return { status: 'Degraded', message };
    case 'NotFound':
      return { status: 'Missing', message };
    case 'Unknown':
      return { status: 'Unknown', message };
  }
}

function isSuspended(object: DeepReadonly<KubeObject>): boolean {
  const { paused, suspend } = (object['spec'] ?? {}) as { paused?: boolean; suspend?: boolean };
  return (object.kind === 'Deployment' && paused === true) || (object.kind.endsWith('Job') && suspend === true);
}

/** The worst of them. */
export function worstHealth(found: readonly ArgoHealth[]): HealthCode {
  return healthCodes[Math.max(0, ...found.map(({ status }) => healthCodes.indexOf(status)))]!;
}
