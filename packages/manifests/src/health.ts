import type { DeepReadonly, KubeObject } from '@slipway/kube';

import { groupOf } from './identity.ts';

/**
 * How an object is doing, in the terms of kstatus: `Current` (as it should be), `InProgress` (on its way), `Failed` (will not
 * get there by itself), `Terminating`, `NotFound`, `Unknown` (could not be read).
 */
export interface Health {
  readonly status: 'Current' | 'InProgress' | 'Failed' | 'Terminating' | 'NotFound' | 'Unknown';
  /** For people, as a clause after the name and a colon: what it waits for or what failed. */
  readonly message: string;
}

/** What an object's own status does not say. */
export interface HealthFacts {
  /** Storage classes whose claims are bound when a pod first uses them (`WaitForFirstConsumer`). Default: none. */
  readonly lateBindingClasses?: ReadonlySet<string>;
}

type Loose = DeepReadonly<KubeObject>;
type Fields = { readonly [field: string]: unknown };
interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

const current = (message: string): Health => ({ status: 'Current', message });
const inProgress = (message: string): Health => ({ status: 'InProgress', message });
const failed = (message: string): Health => ({ status: 'Failed', message });

/** The health of an object that exists, from its own status. Every built-in kind has its rule; other kinds go by their conditions. */
export function healthOf(object: Loose, facts: HealthFacts = {}): Health {
  if (object.metadata.deletionTimestamp) return { status: 'Terminating', message: 'it is being deleted' };
  const status = fields(object['status']);
  const observed = status['observedGeneration'];
  const generation = object.metadata.generation;
  // A status about an older generation says nothing about the present one: the old "Available" would pass at once.
  if (typeof observed === 'number' && typeof generation === 'number' && observed < generation) {
    return inProgress(`its controller has seen generation ${observed} of ${generation}`);
  }
  const group = groupOf(object.apiVersion);
  const rule = kindRules[group ? `${object.kind}.${group}` : object.kind];
  return rule ? rule(object, status, facts) : byConditions(object, status);
}

const kindRules: Readonly<Record<string, (object: Loose, status: Fields, facts: HealthFacts) => Health>> = {
  Namespace: (_object, status) =>
    status['phase'] === undefined || status['phase'] === 'Active'
      ? current('is active')
      : inProgress(`its phase is ${text(status['phase'])}`),
  'CustomResourceDefinition.apiextensions.k8s.io': customResourceDefinition,
  'Deployment.apps': deployment,
  'StatefulSet.apps': statefulSet,
  'DaemonSet.apps': daemonSet,
  'ReplicaSet.apps': replicaSet,
  ReplicationController: replicaSet,
  'Job.batch': job,
  'CronJob.batch': () => current('is scheduled'),
  Pod: pod,
  Service: service,
  PersistentVolumeClaim: claim,
  'PodDisruptionBudget.policy': () => current('is in force'),
  'APIService.apiregistration.k8s.io': (object, status) => {
    const available = findCondition(status, 'Available');
    return available?.status === 'True'
      ? current('is available')
      : inProgress(reasonText('it is not available', available));
  },
};

/** Kinds without a rule: `Ready`, `Reconciling` and `Stalled` decide when present; an object without them is current when it exists. */
function byConditions(object: Loose, status: Fields): Health {
  const stalled = findCondition(status, 'Stalled');
  if (stalled?.status === 'True') return failed(reasonText('it is stalled', stalled));
  const reconciling = findCondition(status, 'Reconciling');
  if (reconciling?.status === 'True') return inProgress(reasonText('it is reconciling', reconciling));
  const ready = findCondition(status, 'Ready');
  if (ready) return ready.status === 'True' ? current('is ready') : inProgress(reasonText('it is not ready', ready));
  return current('exists');
}

function customResourceDefinition(object: Loose, status: Fields): Health {
  const names = findCondition(status, 'NamesAccepted');
  if (names?.status === 'False') return failed(reasonText('its names are not accepted', names));
  const established = findCondition(status, 'Established');
  if (established?.status === 'True') return current('is established');
  return inProgress('it is not established yet');
}

function deployment(object: Loose, status: Fields): Health {
  const progressing = findCondition(status, 'Progressing');
  if (progressing?.reason === 'ProgressDeadlineExceeded')
    return failed(reasonText('its roll-out exceeded its deadline', progressing));
  const want = number(fields(object['spec'])['replicas'], 1);
  const updated = number(status['updatedReplicas'], 0);
  const replicas = number(status['replicas'], 0);
  const available = number(status['availableReplicas'], 0);
  const ready = number(status['readyReplicas'], 0);
  if (status['observedGeneration'] === undefined) return inProgress('its controller has not seen it yet');
  if (updated < want) return inProgress(`${updated} of ${want} replicas updated`);
  if (replicas > updated) return inProgress(`${replicas - updated} old replicas still to go`);
  if (available < updated) return inProgress(`${available} of ${want} replicas available`);
  if (ready < want) return inProgress(`${ready} of ${want} replicas ready`);
  const availability = findCondition(status, 'Available');
  if (want > 0 && availability?.status !== 'True') return inProgress(reasonText('it is not available', availability));
  return current(`${want} of ${want} replicas available`);
}

function statefulSet(object: Loose, status: Fields): Health {
  const spec = fields(object['spec']);
  const strategy = fields(spec['updateStrategy']);
  const want = number(spec['replicas'], 1);
  const ready = number(status['readyReplicas'], 0);
  const replicas = number(status['replicas'], 0);
  const updated = number(status['updatedReplicas'], 0);
  if (strategy['type'] === 'OnDelete') return current('updates on deletion');
  if (status['observedGeneration'] === undefined) return inProgress('its controller has not seen it yet');
  if (replicas < want) return inProgress(`${replicas} of ${want} replicas created`);
  if (ready < want) return inProgress(`${ready} of ${want} replicas ready`);
  if (replicas > want) return inProgress(`${replicas - want} replicas still to go`);
  const partition = number(fields(strategy['rollingUpdate'])['partition'], 0);
  if (partition > 0) {
    return updated < want - partition
      ? inProgress(`${updated} of ${want - partition} replicas updated`)
      : current(`partition ${partition} is rolled out`);
  }
  if (updated < want) return inProgress(`${updated} of ${want} replicas updated`);
  if (status['currentRevision'] !== status['updateRevision'])
    return inProgress('it waits for the new revision to become current');
  return current(`${want} of ${want} replicas ready`);
}

function daemonSet(_object: Loose, status: Fields): Health {
  if (status['observedGeneration'] === undefined) return inProgress('its controller has not seen it yet');
  const want = number(status['desiredNumberScheduled'], 0);
  const scheduled = number(status['currentNumberScheduled'], 0);
  const updated = number(status['updatedNumberScheduled'], 0);
  const available = number(status['numberAvailable'], 0);
  const ready = number(status['numberReady'], 0);
  if (scheduled < want) return inProgress(`${scheduled} of ${want} nodes scheduled`);
  if (updated < want) return inProgress(`${updated} of ${want} nodes updated`);
  if (available < want) return inProgress(`${available} of ${want} nodes available`);
  if (ready < want) return inProgress(`${ready} of ${want} nodes ready`);
  return current(`${want} of ${want} nodes ready`);
}

function replicaSet(object: Loose, status: Fields): Health {
  const failure = findCondition(status, 'ReplicaFailure');
  if (failure?.status === 'True') return inProgress(reasonText('it cannot create replicas', failure));
  const want = number(fields(object['spec'])['replicas'], 1);
  const available = number(status['availableReplicas'], 0);
  if (available < want) return inProgress(`${available} of ${want} replicas available`);
  if (number(status['replicas'], 0) > want) return inProgress('some replicas are still to go');
  return current(`${want} of ${want} replicas available`);
}

function job(object: Loose, status: Fields): Health {
  const failure = findCondition(status, 'Failed');
  if (failure?.status === 'True') return failed(reasonText('it failed', failure));
  if (findCondition(status, 'Complete')?.status === 'True') return current('is complete');
  if (findCondition(status, 'Suspended')?.status === 'True') return current('is suspended');
  if (status['startTime'] === undefined) return inProgress('it has not started');
  // kstatus calls a running Job current; whoever waits for a set wants its Jobs done.
  return inProgress(
    `${number(status['succeeded'], 0)} of ${number(fields(object['spec'])['completions'], 1)} completed`,
  );
}

function pod(object: Loose, status: Fields): Health {
  switch (status['phase']) {
    case 'Succeeded':
      return current('has succeeded');
    case 'Failed':
      return failed(`it has failed: ${text(status['message'] ?? status['reason'] ?? 'see its containers')}`);
    case 'Running': {
      const ready = findCondition(status, 'Ready');
      if (ready?.status === 'True') return current('is ready');
      const crash = crashLoop(status);
      return crash ? failed(crash) : inProgress(reasonText('it is not ready', ready));
    }
    default:
      return inProgress(`its phase is ${text(status['phase'] ?? 'Pending')}`);
  }
}

function claim(object: Loose, status: Fields, facts: HealthFacts): Health {
  if (status['phase'] === 'Bound') return current('is bound');
  if (status['phase'] === 'Lost') return failed('it lost its volume');
  const storageClass = fields(object['spec'])['storageClassName'];
  // With a node chosen for its first pod the volume is on its way; without one there is nothing to wait for.
  const isUsed = object.metadata.annotations?.['volume.kubernetes.io/selected-node'] !== undefined;
  if (!isUsed && typeof storageClass === 'string' && facts.lateBindingClasses?.has(storageClass))
    return current('is bound when a pod uses it');
  return inProgress(`its phase is ${text(status['phase'] ?? 'Pending')}`);
}

function crashLoop(status: Fields): string | undefined {
  for (const container of list(status['containerStatuses'])) {
    const waiting = fields(fields(container['state'])['waiting']);
    if (waiting['reason'] === 'CrashLoopBackOff') return `container ${text(container['name'])} is crash-looping`;
  }
  return undefined;
}

function service(object: Loose, status: Fields): Health {
  const spec = fields(object['spec']);
  if (spec['type'] !== 'LoadBalancer') return current('exists');
  const ingress = list(fields(status['loadBalancer'])['ingress']);
  return ingress.length > 0 ? current('has an address') : inProgress('it waits for a load balancer address');
}

function findCondition(status: Fields, type: string): Condition | undefined {
  return (list(status['conditions']) as readonly Condition[]).find((condition) => condition.type === type);
}

function reasonText(what: string, condition: Condition | undefined): string {
  const detail = condition?.message || condition?.reason;
  return detail ? `${what}: ${detail}` : what;
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function list(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as Fields[]) : [];
}

function number(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
