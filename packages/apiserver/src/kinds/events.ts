import type { FieldError } from '../api-error.ts';
import type { ApiObject, Json, JsonObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { ageOf } from './ages.ts';
import { strategyWith } from './default-strategy.ts';
import { invalidValue, required } from './field-errors.ts';
import { asNumber, asObject, asText, dig } from './json-access.ts';
import { qualifiedName } from './names.ts';

/** The same events are served under two groups; these are the fields that have another name in events.k8s.io. */
const renamed: readonly (readonly [core: string, grouped: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

function rename(object: ApiObject, apiVersion: string, names: ReadonlyMap<string, string>): ApiObject {
  const result: ApiObject = { metadata: object.metadata };
  for (const [key, value] of Object.entries(object)) result[names.get(key) ?? key] = value;
  return { ...result, apiVersion };
}

const toGrouped = new Map(renamed);
const toCore = new Map(renamed.map(([core, grouped]) => [grouped, core] as const));

export function eventToGroup(object: ApiObject): ApiObject {
  const converted = rename(object, 'events.k8s.io/v1', toGrouped);
  // Zero values that only the core version prints.
  for (const field of ['reportingController', 'reportingInstance', 'note']) {
    if (converted[field] === '') delete converted[field];
  }
  return converted;
}

export function eventToCore(object: ApiObject): ApiObject {
  return rename(object, 'v1', toCore);
}

/** Reads a field by its core name in either version. */
function field(object: ApiObject, name: string): unknown {
  return object.apiVersion === 'events.k8s.io/v1' ? object[toGrouped.get(name) ?? name] : object[name];
}

function validateCoreEvent(object: ApiObject): FieldError[] {
  const involved = asObject(object['involvedObject']) ?? {};
  const namespace = object.metadata.namespace ?? '';
  const given = asText(involved['namespace']);
  // Cluster-scoped objects report into the default namespace.
  const matches = given ? given === namespace : namespace === 'default' || namespace === 'kube-system';
  return matches ? [] : [invalidValue('involvedObject.namespace', given, 'does not match event.namespace')];
}

function validateGroupedEvent(object: ApiObject): FieldError[] {
  const regarding = asObject(object['regarding']) ?? {};
  const namespace = object.metadata.namespace ?? '';
  const given = asText(regarding['namespace']);
  const errors: FieldError[] = [];
  // Of another namespace it may speak, of none only from where cluster-scoped objects report to.
  if (!given && namespace !== 'default' && namespace !== 'kube-system')
    errors.push(invalidValue('involvedObject.namespace', given, 'does not match event.namespace'));
  if (object['eventTime'] == null) errors.push(required('eventTime'));
  const type = asText(object['type']);
  const badType = type !== 'Normal' && type !== 'Warning';
  // Without a time the event is of the old kind, of which less is asked.
  if (object['eventTime'] == null) return badType ? [...errors, unknownType(type)] : errors;
  const controller = asText(object['reportingController']);
  if (!controller) errors.push(required('reportingController'));
  for (const text of qualifiedName(controller)) {
    errors.push(invalidValue('reportingController', controller, text));
  }
  if (!asText(object['reportingInstance'])) errors.push(required('reportingInstance'));
  else if (asText(object['reportingInstance']).length > 128) {
    errors.push(invalidValue('reportingInstance', '', 'can have at most 128 characters'));
  }
  for (const key of ['action', 'reason']) {
    const text = asText(object[key]);
    if (!text) errors.push(required(key));
    else if (text.length > 128) errors.push(invalidValue(key, '', 'can have at most 128 characters'));
  }
  if (badType) errors.push(unknownType(type));
  if (asText(object['note']).length > 1024)
    errors.push(invalidValue('message', '', 'can have at most 1024 characters'));
  return errors;
}

function unknownType(type: string): FieldError {
  return invalidValue('type', '', `has invalid value: ${type}`);
}

function involvedText(object: ApiObject): string {
  const involved = asObject(field(object, 'involvedObject')) ?? {};
  const kind = asText(involved['kind']).toLowerCase();
  return asText(involved['name']) ? `${kind}/${asText(involved['name'])}` : kind;
}

function cells(object: ApiObject, now: number): Json[] {
  const first = field(object, 'firstTimestamp') ?? object['eventTime'];
  const series = asObject(object['series']);
  const last = series?.['lastObservedTime'] ?? field(object, 'lastTimestamp') ?? first;
  const component = asText(dig(field(object, 'source'), 'component')) || asText(field(object, 'reportingComponent'));
  const host = asText(dig(field(object, 'source'), 'host')) || asText(object['reportingInstance']);
  return [
    ageOf(last, now),
    asText(object['type']),
    asText(object['reason']),
    involvedText(object),
    asText(dig(field(object, 'involvedObject'), 'fieldPath')),
    host ? `${component}, ${host}` : component,
    asText(field(object, 'message')).trim(),
    ageOf(first, now),
    asNumber(series?.['count']) ?? (asNumber(field(object, 'count')) || 1),
    object.metadata.name ?? '',
  ];
}

const involvedFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

function selectable(prefix: string): Strategy['selectableFields'] {
  const fields: Record<string, (object: ApiObject) => string> = {
    reason: (object) => asText(object['reason']),
    reportingComponent: (object) => asText(field(object, 'reportingComponent')),
    source: (object) =>
      asText(dig(field(object, 'source'), 'component')) || asText(field(object, 'reportingComponent')),
    type: (object) => asText(object['type']),
  };
  for (const name of involvedFields) {
    fields[`${prefix}.${name}`] = (object) => asText(dig(field(object, 'involvedObject'), name));
  }
  return fields;
}

/** Go prints unknown times of events as null. */
function printTimes(names: readonly string[]): (object: ApiObject) => void {
  return (object) => {
    const target = object as unknown as JsonObject;
    for (const name of names) target[name] ??= null;
  };
}

export const coreEventStrategy: Strategy = strategyWith({
  createOnUpdate: true,
  defaultPropagation: 'Unsupported',
  applyDefaults: printTimes(['eventTime', 'firstTimestamp', 'lastTimestamp']),
  validate: validateCoreEvent,
  validateUpdate: validateCoreEvent,
  selectableFields: selectable('involvedObject'),
  cells,
});

export const groupedEventStrategy: Strategy = strategyWith({
  createOnUpdate: true,
  defaultPropagation: 'Unsupported',
  applyDefaults: printTimes(['eventTime', 'deprecatedFirstTimestamp', 'deprecatedLastTimestamp']),
  validate: validateGroupedEvent,
  validateUpdate: () => [],
  selectableFields: selectable('regarding'),
  cells,
});
