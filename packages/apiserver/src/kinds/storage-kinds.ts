import type { FieldError } from '../api-error.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { ageOf } from './ages.ts';
import { strategyWith } from './default-strategy.ts';
import { driverName, givenName, requiredName } from './field-checks.ts';
import { forbiddenField, notSupported, required } from './field-errors.ts';
import { asList, asNumber, asObject, asText, defaultTo, dig, ensureObject } from './json-access.ts';
import { immutable } from './limits.ts';
import { dnsLabel, qualifiedName } from './names.ts';
import { withStatus } from './with-status.ts';

const asJson = (object: ApiObject): JsonObject => object as unknown as JsonObject;
const age = (object: ApiObject, now: number): string => ageOf(object.metadata.creationTimestamp, now);
const name = (object: ApiObject): string => object.metadata.name ?? '';

export const storageClassStrategy: Strategy = strategyWith({
  deleteReturnsObject: true,
  applyDefaults(object) {
    defaultTo(asJson(object), 'reclaimPolicy', 'Delete');
    defaultTo(asJson(object), 'volumeBindingMode', 'Immediate');
  },
  validate: (object) => [
    ...requiredName(asText(object['provisioner']).toLowerCase(), 'provisioner', qualifiedName),
    ...(['Delete', 'Retain'].includes(asText(object['reclaimPolicy']))
      ? []
      : [notSupported('reclaimPolicy', object['reclaimPolicy'], ['Delete', 'Retain'])]),
  ],
  validateUpdate: (object, previous) =>
    immutable(asJson(object), asJson(previous), '', [
      'parameters',
      'provisioner',
      'reclaimPolicy',
      'volumeBindingMode',
    ]),
  cells: (object, now) => [
    object.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true'
      ? `${name(object)} (default)`
      : name(object),
    asText(object['provisioner']),
    asText(object['reclaimPolicy']),
    asText(object['volumeBindingMode']),
    object['allowVolumeExpansion'] === true,
    age(object, now),
  ],
});

export const csiDriverStrategy: Strategy = strategyWith({
  unconditionalUpdate: false,
  deleteReturnsObject: true,
  applyDefaults(object) {
    const spec = ensureObject(asJson(object), 'spec');
    defaultTo(spec, 'attachRequired', true);
    defaultTo(spec, 'podInfoOnMount', false);
    defaultTo(spec, 'storageCapacity', false);
    defaultTo(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType');
    defaultTo(spec, 'volumeLifecycleModes', ['Persistent']);
    defaultTo(spec, 'requiresRepublish', false);
    defaultTo(spec, 'seLinuxMount', false);
  },
  cells: (object, now) => {
    const spec = asObject(object['spec']) ?? {};
    const tokens = asList(spec['tokenRequests']).map((token) => asText(dig(token, 'audience')));
    return [
      name(object),
      spec['attachRequired'] === true,
      spec['podInfoOnMount'] === true,
      spec['storageCapacity'] === true,
      tokens.join(',') || '<unset>',
      spec['requiresRepublish'] === true,
      asList(spec['volumeLifecycleModes']).map(asText).join(',') || '<none>',
      age(object, now),
    ];
  },
});

/** The storage kinds without rules of their own. */
export const plainStorageStrategy: Strategy = strategyWith({ unconditionalUpdate: false, deleteReturnsObject: true });

export const csiNodeStrategy: Strategy = strategyWith({
  unconditionalUpdate: false,
  deleteReturnsObject: true,
  cells: (object, now) => [name(object), asList(dig(object, 'spec', 'drivers')).length, age(object, now)],
});

export const csiStorageCapacityStrategy: Strategy = strategyWith({
  validate: (object) => givenName(object['storageClassName'], 'storageClassName'),
  unconditionalUpdate: false,
  cells: (object) => [name(object), object.metadata.creationTimestamp ?? ''],
});

function validateAttachment(object: ApiObject): FieldError[] {
  const spec = asObject(object['spec']) ?? {};
  const sources = ['inlineVolumeSpec', 'persistentVolumeName'].filter((key) => dig(spec, 'source', key) != null);
  const volume = dig(spec, 'source', 'persistentVolumeName');
  return [
    ...driverName(spec['attacher'], 'spec.attacher'),
    ...(sources.length === 1
      ? []
      : [required('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName')]),
    ...(volume === ''
      ? [required('spec.source.persistentVolumeName', 'must specify non empty persistentVolumeName')]
      : []),
    ...(volume == null ? [] : givenName(volume, 'spec.source.persistentVolumeName')),
    ...givenName(spec['nodeName'], 'spec.nodeName'),
  ];
}

export const volumeAttachmentStrategy: Strategy = withStatus({
  validate: validateAttachment,
  statusKeepsMetadata: true,
  unconditionalUpdate: false,
  deleteReturnsObject: true,
  cells: (object, now) => [
    name(object),
    asText(dig(object, 'spec', 'attacher')),
    asText(dig(object, 'spec', 'source', 'persistentVolumeName')),
    asText(dig(object, 'spec', 'nodeName')),
    dig(object, 'status', 'attached') === true,
    age(object, now),
  ],
});

export const volumeAttributesClassStrategy: Strategy = strategyWith({
  validate: (object) => [
    ...requiredName(asText(object['driverName']).toLowerCase(), 'driverName', qualifiedName),
    ...(Object.keys(asObject(object['parameters']) ?? {}).length === 0
      ? [required('parameters', 'must contain at least one key/value pair')]
      : []),
  ],
  deleteReturnsObject: true,
  cells: (object, now) => [name(object), asText(object['driverName']), age(object, now)],
});

const highestUserPriority = 1_000_000_000;

export const priorityClassStrategy: Strategy = strategyWith({
  hasGeneration: true,
  generationChanged: () => false,
  applyDefaults: (object) => defaultTo(asJson(object), 'preemptionPolicy', 'PreemptLowerPriority'),
  validate: (object) => {
    const value = asNumber(object['value']) ?? 0;
    if (name(object).startsWith('system-')) return [];
    return value > highestUserPriority
      ? [forbiddenField('value', `maximum allowed value of a user defined priority is ${highestUserPriority}`)]
      : [];
  },
  validateUpdate: (object, previous) => immutable(asJson(object), asJson(previous), '', ['value', 'preemptionPolicy']),
  cells: (object, now) => [
    name(object),
    asNumber(object['value']) ?? 0,
    object['globalDefault'] === true,
    age(object, now),
    asText(object['preemptionPolicy']),
  ],
});

export const runtimeClassStrategy: Strategy = strategyWith({
  unconditionalUpdate: false,
  createOnUpdate: true,
  validate: (object) => requiredName(object['handler'], 'handler', dnsLabel),
  validateUpdate: (object, previous) => immutable(asJson(object), asJson(previous), '', ['handler']),
  cells: (object, now) => [name(object), asText(object['handler']), age(object, now)],
});
