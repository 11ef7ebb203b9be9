import type { ApiObject, Json } from '../object.ts';
import { ageOf, humanDuration } from './ages.ts';
import { asList, asNumber, asObject, asObjects, asText, dig } from './json-access.ts';
import { labelsText, selectorText } from './selectors.ts';

/** Names and images of the containers of a pod spec, as wide tables show them. */
export function containerCells(spec: unknown): [names: string, images: string] {
  const containers = asObjects(asObject(spec)?.['containers']);
  return [
    containers.map((container) => asText(container['name'])).join(','),
    containers.map((container) => asText(container['image'])).join(','),
  ];
}

function head(object: ApiObject): string {
  return object.metadata.name ?? '';
}

function age(object: ApiObject, now: number): string {
  return ageOf(object.metadata.creationTimestamp, now);
}

function templateSpec(object: ApiObject): unknown {
  return dig(object, 'spec', 'template', 'spec');
}

function count(object: ApiObject, ...path: string[]): number {
  return asNumber(dig(object, ...path)) ?? 0;
}

function orNone(text: string): string {
  return text || '<none>';
}

export function deploymentCells(object: ApiObject, now: number): Json[] {
  return [
    head(object),
    `${count(object, 'status', 'readyReplicas')}/${count(object, 'spec', 'replicas')}`,
    count(object, 'status', 'updatedReplicas'),
    count(object, 'status', 'availableReplicas'),
    age(object, now),
    ...containerCells(templateSpec(object)),
    orNone(selectorText(dig(object, 'spec', 'selector'))),
  ];
}

export function replicaSetCells(object: ApiObject, now: number): Json[] {
  const selector = dig(object, 'spec', 'selector');
  return [
    head(object),
    count(object, 'spec', 'replicas'),
    count(object, 'status', 'replicas'),
    count(object, 'status', 'readyReplicas'),
    age(object, now),
    ...containerCells(templateSpec(object)),
    orNone(object.kind === 'ReplicationController' ? labelsText(selector) : selectorText(selector)),
  ];
}

export function statefulSetCells(object: ApiObject, now: number): Json[] {
  return [
    head(object),
    `${count(object, 'status', 'readyReplicas')}/${count(object, 'spec', 'replicas')}`,
    age(object, now),
    ...containerCells(templateSpec(object)),
  ];
}

export function daemonSetCells(object: ApiObject, now: number): Json[] {
  return [
    head(object),
    count(object, 'status', 'desiredNumberScheduled'),
    count(object, 'status', 'currentNumberScheduled'),
    count(object, 'status', 'numberReady'),
    count(object, 'status', 'updatedNumberScheduled'),
    count(object, 'status', 'numberAvailable'),
    orNone(labelsText(dig(object, 'spec', 'template', 'spec', 'nodeSelector'))),
    age(object, now),
    ...containerCells(templateSpec(object)),
    orNone(selectorText(dig(object, 'spec', 'selector'))),
  ];
}

function jobStatus(object: ApiObject): string {
  const conditions = asObjects(dig(object, 'status', 'conditions'));
  const holds = (type: string) =>
    conditions.some((condition) => condition['type'] === type && condition['status'] === 'True');
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  if (object.metadata.deletionTimestamp) return 'Terminating';
  if (holds('Suspended')) return 'Suspended';
  if (holds('FailureTarget')) return 'FailureTarget';
  if (holds('SuccessCriteriaMet')) return 'SuccessCriteriaMet';
  return 'Running';
}

export function jobCells(object: ApiObject, now: number): Json[] {
  const completions = asNumber(dig(object, 'spec', 'completions'));
  const parallelism = asNumber(dig(object, 'spec', 'parallelism')) ?? 0;
  const succeeded = count(object, 'status', 'succeeded');
  const wanted = completions !== undefined ? String(completions) : parallelism > 1 ? `1 of ${parallelism}` : '1';
  const started = dig(object, 'status', 'startTime');
  const finished = dig(object, 'status', 'completionTime');
  let duration = '';
  if (typeof started === 'string') {
    const end = typeof finished === 'string' ? Date.parse(finished) : now;
    duration = humanDuration(end - Date.parse(started));
  }
  return [
    head(object),
    jobStatus(object),
    `${succeeded}/${wanted}`,
    duration,
    age(object, now),
    ...containerCells(templateSpec(object)),
    orNone(selectorText(dig(object, 'spec', 'selector'))),
  ];
}

export function cronJobCells(object: ApiObject, now: number): Json[] {
  const last = dig(object, 'status', 'lastScheduleTime');
  const template = dig(object, 'spec', 'jobTemplate', 'spec');
  return [
    head(object),
    asText(dig(object, 'spec', 'schedule')),
    orNone(asText(dig(object, 'spec', 'timeZone'))),
    dig(object, 'spec', 'suspend') === true ? 'True' : 'False',
    asList(dig(object, 'status', 'active')).length,
    typeof last === 'string' ? ageOf(last, now) : '<none>',
    age(object, now),
    ...containerCells(dig(template, 'template', 'spec')),
    orNone(selectorText(dig(template, 'selector'))),
  ];
}
