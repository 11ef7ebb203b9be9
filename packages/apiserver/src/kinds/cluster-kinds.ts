import type { FieldError } from '../api-error.ts';
import { kubeTime } from '../clock.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { ageOf } from './ages.ts';
import { strategyWith } from './default-strategy.ts';
import { givenName, ipAddress, portNumberAt } from './field-checks.ts';
import { duplicate, forbiddenField, immutableText, invalidValue, notSupported, required } from './field-errors.ts';
import {
  asList,
  asObject,
  asObjects,
  asText,
  defaultText,
  defaultTo,
  dig,
  ensureObject,
  sameValue,
} from './json-access.ts';
import { dnsLabel, qualifiedName } from './names.ts';
import { compareQuantities } from '../quantity.ts';
import { withStatus } from './with-status.ts';

const asJson = (object: ApiObject): JsonObject => object as unknown as JsonObject;
const age = (object: ApiObject, now: number): string => ageOf(object.metadata.creationTimestamp, now);

export const namespaceStrategy: Strategy = withStatus({
  deleteReturnsObject: true,
  initialStatus: () => ({ phase: 'Active' }),
  applyDefaults(object) {
    const name = object.metadata.name;
    if (!name) return;
    object.metadata.labels = { ...object.metadata.labels, 'kubernetes.io/metadata.name': name };
  },
  prepareForCreate(object) {
    const spec = ensureObject(asJson(object), 'spec');
    const finalizers = asList(spec['finalizers']);
    if (!finalizers.includes('kubernetes')) spec['finalizers'] = [...finalizers, 'kubernetes'];
  },
  prepareForUpdate(object, previous) {
    // Finalizers of a namespace's spec change only through its finalize subresource.
    ensureObject(asJson(object), 'spec')['finalizers'] = asList(dig(previous, 'spec', 'finalizers'));
  },
  markTerminating(object) {
    object['status'] = { ...asObject(object['status']), phase: 'Terminating' };
  },
  validateName: dnsLabel,
  selectableFields: { 'status.phase': (object) => asText(dig(object, 'status', 'phase')) },
  cells: (object, now) => [object.metadata.name ?? '', asText(dig(object, 'status', 'phase')), age(object, now)],
});

export const serviceAccountStrategy: Strategy = strategyWith({ deleteReturnsObject: true });

const nodeRolePrefix = 'node-role.kubernetes.io/';

function nodeStatus(object: ApiObject): string {
  const ready = asObjects(dig(object, 'status', 'conditions')).find((condition) => condition['type'] === 'Ready');
  const texts = [ready ? (ready['status'] === 'True' ? 'Ready' : 'NotReady') : 'Unknown'];
  if (dig(object, 'spec', 'unschedulable') === true) texts.push('SchedulingDisabled');
  return texts.join(',');
}

function nodeRoles(object: ApiObject): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(object.metadata.labels ?? {})) {
    if (key.startsWith(nodeRolePrefix) && key.length > nodeRolePrefix.length)
      roles.add(key.slice(nodeRolePrefix.length));
    else if (key === 'kubernetes.io/role' && value) roles.add(value);
  }
  return [...roles].toSorted().join(',') || '<none>';
}

function kernelText(object: ApiObject): string {
  const kernel = asText(dig(object, 'status', 'nodeInfo', 'kernelVersion')) || '<unknown>';
  const architecture = asText(dig(object, 'status', 'nodeInfo', 'architecture'));
  return architecture ? `${kernel} (${architecture})` : kernel;
}

function nodeAddress(object: ApiObject, type: string): string {
  const found = asObjects(dig(object, 'status', 'addresses')).find((address) => address['type'] === type);
  return asText(found?.['address']) || '<none>';
}

export const nodeStrategy: Strategy = strategyWith({
  // Kubelets set the status when they register themselves, so it is kept on create.
  statusField: true,
  applyDefaults(object) {
    const status = asObject(object['status']);
    if (status && status['allocatable'] == null && asObject(status['capacity'])) {
      status['allocatable'] = { ...asObject(status['capacity']) };
    }
  },
  prepareForUpdate(object, previous) {
    if (previous['status'] === undefined) delete object['status'];
    else object['status'] = previous['status'];
  },
  prepareForStatusUpdate(object, previous) {
    if (previous['spec'] === undefined) delete object['spec'];
    else object['spec'] = previous['spec'];
  },
  validateUpdate: (object, previous) => {
    const before = asText(dig(previous, 'spec', 'providerID'));
    return before && before !== asText(dig(object, 'spec', 'providerID'))
      ? [forbiddenField('spec.providerID', 'node updates may not change providerID except from "" to valid')]
      : [];
  },
  selectableFields: { 'spec.unschedulable': (object) => String(dig(object, 'spec', 'unschedulable') === true) },
  cells: (object, now) => [
    object.metadata.name ?? '',
    nodeStatus(object),
    nodeRoles(object),
    age(object, now),
    asText(dig(object, 'status', 'nodeInfo', 'kubeletVersion')),
    nodeAddress(object, 'InternalIP'),
    nodeAddress(object, 'ExternalIP'),
    asText(dig(object, 'status', 'nodeInfo', 'osImage')) || '<unknown>',
    kernelText(object),
    asText(dig(object, 'status', 'nodeInfo', 'containerRuntimeVersion')) || '<unknown>',
  ],
});

const accessModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function accessText(modes: unknown): string {
  const present = new Set(asList(modes));
  return Object.entries(accessModes)
    .filter(([mode]) => present.has(mode))
    .map(([, short]) => short)
    .join(',');
}

function accessErrors(spec: JsonObject, detail = 'at least 1 access mode is required', field = 'spec'): FieldError[] {
  const modes = asList(spec['accessModes']);
  const supported = Object.keys(accessModes).toSorted();
  if (modes.length === 0) return [required(`${field}.accessModes`, detail)];
  return modes
    .filter((mode) => !supported.includes(asText(mode)))
    .map((mode) => notSupported(`${field}.accessModes`, mode, supported));
}

function validateClaim(object: ApiObject): FieldError[] {
  return validateClaimSpec(asObject(object['spec']) ?? {}, 'spec');
}

/** What is wrong with a claim, or with the template of claims; `field` is the path of its spec. */
export function validateClaimSpec(spec: JsonObject, field: string): FieldError[] {
  const errors = accessErrors(spec, undefined, field);
  const wanted = asText(dig(spec, 'resources', 'requests', 'storage'));
  if (!wanted) errors.push(required(`${field}.resources[storage]`));
  else if (compareQuantities(wanted, '0') <= 0) {
    errors.push(invalidValue(`${field}.resources[storage]`, wanted, 'must be greater than zero'));
  }
  const mode = asText(spec['volumeMode']);
  if (mode && !['Block', 'Filesystem'].includes(mode)) {
    errors.push(notSupported(`${field}.volumeMode`, mode, ['Block', 'Filesystem']));
  }
  return errors;
}

function claimUpdateErrors(object: ApiObject, previous: ApiObject): FieldError[] {
  const errors = validateClaim(object);
  const comparable = (claim: ApiObject): JsonObject => {
    const spec = { ...asObject(claim['spec']) };
    delete spec['resources'];
    delete spec['volumeAttributesClassName'];
    if (!asText(dig(previous, 'spec', 'volumeName'))) delete spec['volumeName'];
    if (dig(previous, 'spec', 'storageClassName') == null) delete spec['storageClassName'];
    return spec;
  };
  if (!sameValue(comparable(object), comparable(previous))) {
    errors.push(
      forbiddenField(
        'spec',
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      ),
    );
  }
  const before = asText(dig(previous, 'spec', 'resources', 'requests', 'storage'));
  const wanted = asText(dig(object, 'spec', 'resources', 'requests', 'storage'));
  if (before && wanted && compareQuantities(wanted, before) < 0) {
    const capacity = asText(dig(previous, 'status', 'capacity', 'storage'));
    if (!capacity || compareQuantities(wanted, capacity) <= 0) {
      errors.push(forbiddenField('spec.resources.requests.storage', 'field can not be less than status.capacity'));
    }
  } else if (wanted !== before && dig(previous, 'status', 'phase') !== 'Bound') {
    errors.push(
      forbiddenField(
        'spec',
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      ),
    );
  }
  return errors;
}

function storageCells(object: ApiObject): [string, string] {
  const phase = object.metadata.deletionTimestamp ? 'Terminating' : asText(dig(object, 'status', 'phase'));
  return [phase, asText(dig(object, 'spec', 'volumeName'))];
}

export const claimStrategy: Strategy = withStatus({
  deleteReturnsObject: true,
  initialStatus: () => ({ phase: 'Pending' }),
  applyDefaults(object) {
    defaultTo(ensureObject(asJson(object), 'spec'), 'volumeMode', 'Filesystem');
    defaultText(ensureObject(asJson(object), 'status'), 'phase', 'Pending');
  },
  validate: validateClaim,
  validateUpdate: claimUpdateErrors,
  cells: (object, now) => {
    const [phase, volume] = storageCells(object);
    return [
      object.metadata.name ?? '',
      phase,
      volume,
      volume ? asText(dig(object, 'status', 'capacity', 'storage')) : '',
      volume ? accessText(dig(object, 'status', 'accessModes')) : '',
      asText(dig(object, 'spec', 'storageClassName')),
      asText(dig(object, 'spec', 'volumeAttributesClassName')) || '<unset>',
      age(object, now),
      asText(dig(object, 'spec', 'volumeMode')) || '<unset>',
    ];
  },
});

const notSources = new Set([
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
]);

function validateVolume(object: ApiObject): FieldError[] {
  const spec = asObject(object['spec']) ?? {};
  const errors = accessErrors(spec, '');
  const capacity = asObject(spec['capacity']) ?? {};
  if (Object.keys(capacity).length === 0) {
    errors.push(required('spec.capacity'), notSupported('spec.capacity', null, ['storage']));
  }
  if (Object.keys(capacity).length > 0 && (capacity['storage'] === undefined || Object.keys(capacity).length > 1)) {
    errors.push(notSupported('spec.capacity', capacity, ['storage']));
  }
  const sources = Object.keys(spec).filter((key) => !notSources.has(key) && spec[key] != null);
  if (sources.length === 0) errors.push(required('spec', 'must specify a volume type'));
  for (const extra of sources.slice(1)) {
    errors.push(forbiddenField(`spec.${extra}`, 'may not specify more than 1 volume type'));
  }
  const storage = asText(capacity['storage']);
  if (storage && compareQuantities(storage, '0') <= 0) {
    errors.push(invalidValue('spec.capacity[storage]', storage, 'must be greater than zero'));
  }
  const hostPath = asObject(spec['hostPath']);
  if (hostPath && !asText(hostPath['path'])) errors.push(required('spec.hostPath.path'));
  const policy = asText(spec['persistentVolumeReclaimPolicy']);
  if (!['Delete', 'Recycle', 'Retain'].includes(policy)) {
    errors.push(notSupported('spec.persistentVolumeReclaimPolicy', policy, ['Delete', 'Recycle', 'Retain']));
  }
  return errors;
}

function volumeSource(object: ApiObject): JsonObject {
  const spec = asObject(object['spec']) ?? {};
  return Object.fromEntries(Object.entries(spec).filter(([key]) => !notSources.has(key)));
}

export const volumeStrategy: Strategy = withStatus({
  deleteReturnsObject: true,
  initialStatus: (_object, context) => ({
    phase: 'Pending',
    lastPhaseTransitionTime: kubeTime(context.clock.now()),
  }),
  applyDefaults(object) {
    const spec = ensureObject(asJson(object), 'spec');
    defaultText(spec, 'persistentVolumeReclaimPolicy', 'Retain');
    defaultTo(spec, 'volumeMode', 'Filesystem');
    const hostPath = asObject(spec['hostPath']);
    if (hostPath) defaultTo(hostPath, 'type', '');
    defaultText(ensureObject(asJson(object), 'status'), 'phase', 'Pending');
  },
  prepareForStatusUpdate(object, previous, context) {
    if (dig(object, 'status', 'phase') === dig(previous, 'status', 'phase')) return;
    ensureObject(asJson(object), 'status')['lastPhaseTransitionTime'] = kubeTime(context.clock.now());
  },
  validate: validateVolume,
  validateUpdate: (object, previous) => {
    const errors = validateVolume(object);
    if (!sameValue(volumeSource(object), volumeSource(previous))) {
      errors.push(
        forbiddenField('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation'),
      );
    }
    if (dig(object, 'spec', 'volumeMode') !== dig(previous, 'spec', 'volumeMode')) {
      errors.push(invalidValue('spec.volumeMode', dig(object, 'spec', 'volumeMode'), immutableText));
    }
    return errors;
  },
  cells: (object, now) => {
    const claim = asObject(dig(object, 'spec', 'claimRef'));
    return [
      object.metadata.name ?? '',
      asText(dig(object, 'spec', 'capacity', 'storage')),
      accessText(dig(object, 'spec', 'accessModes')),
      asText(dig(object, 'spec', 'persistentVolumeReclaimPolicy')),
      object.metadata.deletionTimestamp ? 'Terminating' : asText(dig(object, 'status', 'phase')),
      claim ? `${asText(claim['namespace'])}/${asText(claim['name'])}` : '',
      asText(dig(object, 'spec', 'storageClassName')),
      asText(dig(object, 'spec', 'volumeAttributesClassName')) || '<unset>',
      asText(dig(object, 'status', 'reason')),
      age(object, now),
      asText(dig(object, 'spec', 'volumeMode')) || '<unset>',
    ];
  },
});

const limitTypes: readonly string[] = ['Pod', 'Container', 'PersistentVolumeClaim'];

function validateLimitRange(object: ApiObject): FieldError[] {
  const seen = new Set<string>();
  return asObjects(dig(object, 'spec', 'limits')).flatMap((limit, index) => {
    const at = `spec.limits[${index}].type`;
    const type = asText(limit['type']);
    const errors = givenName(type, at, qualifiedName);
    if (errors.length === 0 && !type.includes('/') && !limitTypes.includes(type)) {
      errors.push(invalidValue(at, type, 'must be a standard limit type or fully qualified'));
    }
    if (seen.has(type)) errors.push(duplicate(at, type));
    seen.add(type);
    return errors;
  });
}

export const limitRangeStrategy: Strategy = strategyWith({
  validate: validateLimitRange,
  validateUpdate: validateLimitRange,
  createOnUpdate: true,
  // The one kind that names itself.
  prepareForCreate: (object, { random }) => void (object.metadata.name ||= random.uuid()),
  applyDefaults(object) {
    for (const limit of asObjects(dig(object, 'spec', 'limits'))) {
      if (limit['type'] !== 'Container') continue;
      for (const [from, to] of [
        ['max', 'default'],
        ['default', 'defaultRequest'],
        ['min', 'defaultRequest'],
      ] as const) {
        for (const [name, quantity] of Object.entries(asObject(limit[from]) ?? {})) {
          defaultTo(ensureObject(limit, to), name, quantity);
        }
      }
    }
  },
  cells: (object) => [object.metadata.name ?? '', object.metadata.creationTimestamp ?? ''],
});

function quotaText(object: ApiObject, limits: boolean): string {
  const hard = asObject(dig(object, 'status', 'hard')) ?? {};
  const used = asObject(dig(object, 'status', 'used')) ?? {};
  return Object.keys(hard)
    .toSorted()
    .filter((name) => name.startsWith('limits') === limits)
    .map((name) => `${name}: ${asText(used[name]) || '0'}/${asText(hard[name])}`)
    .join(', ');
}

export const resourceQuotaStrategy: Strategy = withStatus({
  deleteReturnsObject: true,
  validate: (object) =>
    Object.entries(asObject(dig(object, 'spec', 'hard')) ?? {}).flatMap(([name, quantity]) => [
      ...givenName(name, `spec.hard[${name}]`, qualifiedName),
      ...(compareQuantities(asText(quantity), '0') < 0
        ? [invalidValue(`spec.hard[${name}]`, quantity, 'must be greater than or equal to 0')]
        : []),
    ]),
  cells: (object, now) => [
    object.metadata.name ?? '',
    quotaText(object, false),
    quotaText(object, true),
    age(object, now),
  ],
});

function endpointsText(object: ApiObject): string {
  const all = asObjects(object['subsets']).flatMap((subset) => {
    const ports = asObjects(subset['ports']);
    const addresses = asObjects(subset['addresses']).map((address) => asText(address['ip']));
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((address) => `${address}:${String(port['port'])}`));
  });
  if (all.length === 0) return '<none>';
  return all.length > 3 ? `${all.slice(0, 3).join(',')} + ${all.length - 3} more...` : all.join(',');
}

function validateEndpoints(object: ApiObject): FieldError[] {
  return asObjects(object['subsets']).flatMap((subset, index) => {
    const at = `subsets[${index}]`;
    const lists = ['addresses', 'notReadyAddresses'] as const;
    const ports = asObjects(subset['ports']);
    return [
      ...(lists.every((list) => asList(subset[list]).length === 0)
        ? [required(at, 'must specify `addresses` or `notReadyAddresses`')]
        : []),
      ...lists.flatMap((list) =>
        asObjects(subset[list]).flatMap((address, place) => ipAddress(address['ip'], `${at}.${list}[${place}].ip`)),
      ),
      ...ports.flatMap((port, place) => [
        ...(ports.length > 1 && !asText(port['name']) ? [required(`${at}.ports[${place}].name`)] : []),
        ...portNumberAt(port['port'], `${at}.ports[${place}].port`),
      ]),
    ];
  });
}

export const endpointsStrategy: Strategy = strategyWith({
  validate: validateEndpoints,
  validateUpdate: validateEndpoints,
  createOnUpdate: true,
  applyDefaults(object) {
    for (const subset of asObjects(object['subsets'])) {
      for (const port of asObjects(subset['ports'])) defaultText(port, 'protocol', 'TCP');
    }
  },
  cells: (object, now) => [object.metadata.name ?? '', endpointsText(object), age(object, now)],
});
