import type { ApiObject, Json } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { ageOf } from './ages.ts';
import { strategyWith } from './default-strategy.ts';
import { forbiddenField } from './field-errors.ts';
import { asList, asObject, asObjects, asText, dig } from './json-access.ts';
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

export const addressStrategy: Strategy = strategyWith({
  cells: (object) => {
    const parent = asObject(dig(object, 'spec', 'parentRef')) ?? {};
    const parts = ['resource', 'namespace', 'name'].map((key) => asText(parent[key]));
    const group = asText(parent['group']);
    if (group) parts[0] = `${parts[0]}.${group}`;
    return [name(object), parts.filter(Boolean).join('/')];
  },
});

export const serviceCidrStrategy: Strategy = withStatus({
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

export const resourceSliceStrategy: Strategy = strategyWith({
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
