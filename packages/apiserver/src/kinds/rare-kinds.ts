import type { FieldError } from '../api-error.ts';
import type { ApiObject, Json } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { ageOf } from './ages.ts';
import { strategyWith } from './default-strategy.ts';
import { cidr, driverName, givenName, requiredName, requiredTexts } from './field-checks.ts';
import { forbiddenField, invalidValue, required, tooLong } from './field-errors.ts';
import { asList, asNumber, asObject, asObjects, asText, dig } from './json-access.ts';
import { dnsSubdomain } from './names.ts';
import { withStatus } from './with-status.ts';

const name = (object: ApiObject): string => object.metadata.name ?? '';
const age = (object: ApiObject, now: number): string => ageOf(object.metadata.creationTimestamp, now);
const text = (object: ApiObject, ...path: string[]): string => asText(dig(object, ...path));
const orElse = (value: string, none: string): string => value || none;

export const trustBundleStrategy: Strategy = strategyWith({
  selectableFields: { 'spec.signerName': (object) => text(object, 'spec', 'signerName') },
  cells: (object) => [name(object), orElse(text(object, 'spec', 'signerName'), '<none>')],
});

export const podCertificateStrategy: Strategy = withStatus({
  selectableFields: {
    'spec.signerName': (object) => text(object, 'spec', 'signerName'),
    'spec.podName': (object) => text(object, 'spec', 'podName'),
    'spec.nodeName': (object) => text(object, 'spec', 'nodeName'),
  },
  cells: (object) => {
    const conditions = asObjects(dig(object, 'status', 'conditions'));
    const state = conditions.find((condition) => condition['status'] === 'True');
    const annotations = asObject(dig(object, 'spec', 'unverifiedUserAnnotations')) ?? {};
    return [
      name(object),
      text(object, 'spec', 'podName'),
      text(object, 'spec', 'serviceAccountName'),
      text(object, 'spec', 'nodeName'),
      text(object, 'spec', 'signerName'),
      orElse(asText(state?.['type']), 'Pending'),
      Object.entries(annotations)
        .map(([key, value]) => `${key}=${asText(value)}`)
        .join(','),
    ];
  },
});

function validateAddress(object: ApiObject): FieldError[] {
  const parent = asObject(dig(object, 'spec', 'parentRef'));
  return parent ? requiredTexts(parent, 'spec.parentRef', ['resource', 'name']) : [required('spec.parentRef')];
}

export const addressStrategy: Strategy = strategyWith({
  validate: validateAddress,
  cells: (object) => {
    const parent = asObject(dig(object, 'spec', 'parentRef')) ?? {};
    const parts = ['resource', 'namespace', 'name'].map((key) => asText(parent[key]));
    const group = asText(parent['group']);
    if (group) parts[0] = `${parts[0]}.${group}`;
    return [name(object), parts.filter(Boolean).join('/')];
  },
});

function validateServiceCidr(object: ApiObject): FieldError[] {
  const ranges = asList(dig(object, 'spec', 'cidrs'));
  if (ranges.length === 0) return [required('spec.cidrs', 'at least one CIDR required')];
  const errors = ranges.flatMap((range, index) => cidr(range, `spec.cidrs[${index}]`));
  const families = ranges.map((range) => (asText(range).includes(':') ? 6 : 4));
  if (errors.length === 0 && new Set(families).size < families.length) {
    const text = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    errors.push(invalidValue('spec.cidrs', ranges, text));
  }
  return errors;
}

export const serviceCidrStrategy: Strategy = withStatus({
  validate: validateServiceCidr,
  statusKeepsMetadata: true,
  cells: (object, now) => [
    name(object),
    asList(dig(object, 'spec', 'cidrs'))
      .map(asText)
      .join(','),
    age(object, now),
  ],
});

function claimState(object: ApiObject): string {
  const states: string[] = [];
  if (object.metadata.deletionTimestamp) states.push('deleted');
  if (dig(object, 'status', 'allocation') == null) {
    if (!object.metadata.deletionTimestamp) states.push('pending');
  } else {
    states.push('allocated');
    states.push(asList(dig(object, 'status', 'reservedFor')).length > 0 ? 'reserved' : '');
  }
  return states.filter(Boolean).join(',');
}

export const resourceClaimStrategy: Strategy = withStatus({
  statusKeepsMetadata: true,
  deleteReturnsObject: true,
  validateStatusUpdate: (object) =>
    asList(dig(object, 'status', 'reservedFor')).length > 0 && dig(object, 'status', 'allocation') == null
      ? [forbiddenField('status.reservedFor', 'may not be specified when `allocated` is not set')]
      : [],
  cells: (object, now) => [name(object), claimState(object), age(object, now)],
});

/** Which nodes a slice is for. */
const nodeChoices = ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'] as const;

function validateSlice(object: ApiObject): FieldError[] {
  const spec = asObject(object['spec']) ?? {};
  const pool = asObject(spec['pool']) ?? {};
  const count = asNumber(pool['resourceSliceCount']) ?? 0;
  const generation = asNumber(pool['generation']) ?? 0;
  const chosen = nodeChoices.filter((key) => spec[key] != null && spec[key] !== false && spec[key] !== '');
  return [
    ...driverName(spec['driver'], 'spec.driver'),
    ...(asText(pool['name']).length > 253 ? [tooLong('spec.pool.name', 253)] : []),
    ...requiredName(pool['name'], 'spec.pool.name', (pooled) => pooled.split('/').flatMap(dnsSubdomain)),
    ...(count > 0 ? [] : [invalidValue('spec.pool.resourceSliceCount', count, 'must be greater than zero')]),
    ...(generation < 0
      ? [invalidValue('spec.pool.generation', generation, 'must be greater than or equal to zero')]
      : []),
    ...(spec['nodeName'] === ''
      ? [invalidValue('spec.nodeName', '', 'must be either unset or set to a non-empty string')]
      : []),
    ...(asText(spec['nodeName']) ? givenName(spec['nodeName'], 'spec.nodeName') : []),
    ...(chosen.length === 1
      ? []
      : [required('spec', `exactly one of ${nodeChoices.map((key) => `\`${key}\``).join(', ')} is required`)]),
  ];
}

export const resourceSliceStrategy: Strategy = strategyWith({
  validate: validateSlice,
  deleteReturnsObject: true,
  selectableFields: {
    'spec.nodeName': (object) => text(object, 'spec', 'nodeName'),
    'spec.driver': (object) => text(object, 'spec', 'driver'),
  },
  cells: (object, now) => [
    name(object),
    orElse(text(object, 'spec', 'nodeName'), '<unset>'),
    text(object, 'spec', 'driver'),
    text(object, 'spec', 'pool', 'name'),
    age(object, now),
  ],
});

export const deviceTaintStrategy: Strategy = withStatus({
  deleteReturnsObject: true,
  cells: (object, now) => [
    name(object),
    text(object, 'spec', 'taint', 'key'),
    text(object, 'spec', 'taint', 'value'),
    text(object, 'spec', 'taint', 'effect'),
    ageOf(dig(object, 'spec', 'taint', 'timeAdded'), now),
    age(object, now),
  ],
});

export const storageMigrationStrategy: Strategy = withStatus({
  cells: (object) => {
    const resource = asText(dig(object, 'spec', 'resource', 'resource'));
    const group = asText(dig(object, 'spec', 'resource', 'group'));
    const state = asObjects(dig(object, 'status', 'conditions')).find((condition) => condition['status'] === 'True');
    return [name(object), group ? `${resource}.${group}` : resource, asText(state?.['type'])];
  },
});

export const componentStatusStrategy: Strategy = strategyWith({
  cells: (object): Json[] => {
    const condition = asObjects(object['conditions']).find((entry) => entry['type'] === 'Healthy');
    const state = condition?.['status'] === 'True' ? 'Healthy' : condition ? 'Unhealthy' : 'Unknown';
    return [name(object), state, asText(condition?.['message']), asText(condition?.['error'])];
  },
});
