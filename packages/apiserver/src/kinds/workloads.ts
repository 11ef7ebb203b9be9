import type { FieldError } from '../api-error.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { ageOf } from './ages.ts';
import { validateClaimSpec } from './cluster-kinds.ts';
import { strategyWith } from './default-strategy.ts';
import { forbiddenField, invalidValue, notSupported, required } from './field-errors.ts';
import {
  asNumber,
  asObject,
  asObjects,
  asText,
  defaultText,
  defaultTo,
  dig,
  ensureObject,
  sameValue,
} from './json-access.ts';
import { immutable, intOrPercent, nonNegative } from './limits.ts';
import { dnsLabel } from './names.ts';
import { defaultPodTemplate } from './pod-spec-defaults.ts';
import { validatePodTemplate } from './pod-spec-validation.ts';
import { isEmptySelector, labelsText, selectorMatches, validateSelector } from './selectors.ts';
import { withStatus } from './with-status.ts';
import {
  containerCells,
  daemonSetCells,
  deploymentCells,
  replicaSetCells,
  statefulSetCells,
} from './workload-cells.ts';

function specOf(object: ApiObject): JsonObject {
  return ensureObject(object as unknown as JsonObject, 'spec');
}

function templateLabels(spec: JsonObject): JsonObject {
  return asObject(dig(spec, 'template', 'metadata', 'labels')) ?? {};
}

/** Selector present, not empty, and selecting the pods of the template; then the template itself. */
function selectorAndTemplate(spec: JsonObject, kind: string, owner: string): FieldError[] {
  const errors: FieldError[] = [];
  const selector = asObject(spec['selector']);
  const labels = asObject(dig(spec, 'template', 'metadata', 'labels'));
  const mismatch = invalidValue(
    'spec.template.metadata.labels',
    labels ?? null,
    '`selector` does not match template `labels`',
  );
  if (!selector) {
    // Without a selector nothing is selected, and that is all the real server says of a DaemonSet.
    if (kind !== 'daemonset') errors.push(required('spec.selector'));
    errors.push(mismatch);
  } else {
    const problems = validateSelector(selector, 'spec.selector');
    errors.push(...problems);
    if (isEmptySelector(selector)) {
      errors.push(invalidValue('spec.selector', selector, `empty selector is invalid for ${kind}`));
    } else if (problems.length > 0) {
      // Nobody can tell what it selects. The real server then looks no further, but at the pods of a DaemonSet.
      if (kind !== 'daemonset') {
        errors.push(invalidValue('spec.selector', selector, kind === 'statefulset' ? '' : 'invalid label selector'));
        return kind === 'statefulset' ? [...errors, ...lifeOfPods(spec, owner)] : errors;
      }
    } else if (!selectorMatches(selector, templateLabels(spec))) {
      errors.push(mismatch);
    }
  }
  return [...errors, ...validatePodTemplate(withClaimVolumes(spec), 'spec.template'), ...lifeOfPods(spec, owner)];
}

/** Pods somebody keeps at a number are started again, and do not end by themselves. */
function lifeOfPods(spec: JsonObject, owner: string): FieldError[] {
  const errors: FieldError[] = [];
  const pod = asObject(dig(spec, 'template', 'spec')) ?? {};
  if (pod['restartPolicy'] !== 'Always') {
    errors.push(notSupported('spec.template.spec.restartPolicy', pod['restartPolicy'] ?? '', ['Always']));
  }
  if (pod['activeDeadlineSeconds'] != null) {
    errors.push(
      forbiddenField('spec.template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${owner} is not Supported`),
    );
  }
  return errors;
}

/** Claim templates become volumes of the pods, so containers may mount them. */
function withClaimVolumes(spec: JsonObject): unknown {
  const claims = [
    ...new Set(asObjects(spec['volumeClaimTemplates']).map((claim) => asText(dig(claim, 'metadata', 'name')))),
  ];
  const template = asObject(spec['template']);
  const pod = asObject(template?.['spec']);
  if (claims.length === 0 || !template || !pod) return template;
  const others = asObjects(pod['volumes']).filter((volume) => !claims.includes(asText(volume['name'])));
  return {
    ...template,
    spec: {
      ...pod,
      volumes: [...others, ...claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }))],
    },
  };
}

function isZero(value: unknown): boolean {
  return value === 0 || value === '0%';
}

function validateDeployment(object: ApiObject): FieldError[] {
  const spec = specOf(object);
  const strategy = asObject(spec['strategy']) ?? {};
  const rolling = asObject(strategy['rollingUpdate']);
  const errors = [...nonNegative(spec, 'spec', ['replicas']), ...selectorAndTemplate(spec, 'deployment', 'ReplicaSet')];
  if (strategy['type'] === 'Recreate') {
    if (rolling) {
      errors.push(
        forbiddenField('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'"),
      );
    }
  } else if (strategy['type'] === 'RollingUpdate') {
    const at = 'spec.strategy.rollingUpdate';
    errors.push(
      ...intOrPercent(rolling?.['maxUnavailable'], `${at}.maxUnavailable`),
      ...intOrPercent(rolling?.['maxSurge'], `${at}.maxSurge`),
    );
    if (isZero(rolling?.['maxUnavailable']) && isZero(rolling?.['maxSurge'])) {
      errors.push(
        invalidValue(`${at}.maxUnavailable`, rolling!['maxUnavailable'], 'may not be 0 when `maxSurge` is 0'),
      );
    }
  } else errors.push(notSupported('spec.strategy', strategy, ['Recreate', 'RollingUpdate']));
  errors.push(...nonNegative(spec, 'spec', ['minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds']));
  const deadline = asNumber(spec['progressDeadlineSeconds']);
  if (deadline !== undefined && deadline <= (asNumber(spec['minReadySeconds']) ?? 0)) {
    errors.push(invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  }
  return errors;
}

const statusCounts = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'];

function validateReplicaStatus(object: ApiObject): FieldError[] {
  const status = asObject(object['status']) ?? {};
  const errors = nonNegative(status, 'status', statusCounts);
  const total = asNumber(status['replicas']) ?? 0;
  for (const key of ['updatedReplicas', 'readyReplicas', 'availableReplicas']) {
    const value = asNumber(status[key]) ?? 0;
    if (value > total) errors.push(invalidValue(`status.${key}`, value, 'cannot be greater than status.replicas'));
  }
  const available = asNumber(status['availableReplicas']) ?? 0;
  if (available > (asNumber(status['readyReplicas']) ?? 0)) {
    errors.push(invalidValue('status.availableReplicas', available, 'cannot be greater than readyReplicas'));
  }
  return errors;
}

export const deploymentStrategy: Strategy = withStatus({
  hasGeneration: true,
  statusKeepsLabels: true,
  // The rollout controller looks at annotations too, so a change of them counts.
  generationChanged: (next, previous) =>
    !sameValue(next['spec'], previous['spec']) || !sameValue(next.metadata.annotations, previous.metadata.annotations),
  applyDefaults(object) {
    const spec = specOf(object);
    defaultTo(spec, 'replicas', 1);
    defaultPodTemplate(spec);
    const strategy = ensureObject(spec, 'strategy');
    defaultText(strategy, 'type', 'RollingUpdate');
    if (strategy['type'] === 'RollingUpdate') {
      const rolling = ensureObject(strategy, 'rollingUpdate');
      defaultTo(rolling, 'maxUnavailable', '25%');
      defaultTo(rolling, 'maxSurge', '25%');
    }
    defaultTo(spec, 'revisionHistoryLimit', 10);
    defaultTo(spec, 'progressDeadlineSeconds', 600);
  },
  validate: validateDeployment,
  validateUpdate: (object, previous) => [
    ...validateDeployment(object),
    ...immutable(specOf(object), specOf(previous), 'spec', ['selector']),
  ],
  validateStatusUpdate: validateReplicaStatus,
  cells: deploymentCells,
});

function validateReplicaSet(object: ApiObject): FieldError[] {
  const spec = specOf(object);
  return [
    ...nonNegative(spec, 'spec', ['replicas', 'minReadySeconds']),
    ...selectorAndTemplate(spec, 'deployment', 'ReplicaSet'),
  ];
}

const replicaSelector = { 'status.replicas': (object: ApiObject) => String(dig(object, 'status', 'replicas') ?? 0) };

export const replicaSetStrategy: Strategy = withStatus({
  hasGeneration: true,
  applyDefaults(object) {
    const spec = specOf(object);
    defaultTo(spec, 'replicas', 1);
    defaultPodTemplate(spec);
  },
  validate: validateReplicaSet,
  validateUpdate: (object, previous) => [
    ...validateReplicaSet(object),
    ...immutable(specOf(object), specOf(previous), 'spec', ['selector']),
  ],
  validateStatusUpdate: validateReplicaStatus,
  selectableFields: replicaSelector,
  cells: replicaSetCells,
});

function validateController(object: ApiObject): FieldError[] {
  const spec = specOf(object);
  const errors = nonNegative(spec, 'spec', ['minReadySeconds', 'replicas']);
  const selector = asObject(spec['selector']) ?? {};
  if (Object.keys(selector).length === 0) errors.push(required('spec.selector'));
  const template = asObject(spec['template']);
  if (!template) return [...errors, required('spec.template')];
  const labels = templateLabels(spec);
  if (Object.entries(selector).some(([key, value]) => labels[key] !== value)) {
    errors.push(invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  }
  return [...errors, ...validatePodTemplate(template, 'spec.template')];
}

export const replicationControllerStrategy: Strategy = withStatus({
  hasGeneration: true,
  defaultPropagation: 'Orphan',
  applyDefaults(object) {
    const spec = specOf(object);
    const labels = asObject(dig(spec, 'template', 'metadata', 'labels'));
    if (labels) {
      if (!spec['selector'] || Object.keys(asObject(spec['selector']) ?? {}).length === 0)
        spec['selector'] = { ...labels };
      if (!object.metadata.labels) object.metadata.labels = { ...labels } as Record<string, string>;
    }
    defaultTo(spec, 'replicas', 1);
    defaultPodTemplate(spec);
  },
  validate: validateController,
  validateUpdate: validateController,
  validateStatusUpdate: validateReplicaStatus,
  selectableFields: replicaSelector,
  cells: replicaSetCells,
});

function validateStatefulSet(object: ApiObject): FieldError[] {
  const spec = specOf(object);
  const errors: FieldError[] = [];
  const policy = asText(spec['podManagementPolicy']);
  if (!['OrderedReady', 'Parallel'].includes(policy)) {
    errors.push(invalidValue('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'"));
  }
  const strategy = asObject(spec['updateStrategy']) ?? {};
  if (strategy['type'] === 'OnDelete') {
    if (strategy['rollingUpdate'] != null) {
      errors.push(
        invalidValue(
          'spec.updateStrategy.rollingUpdate',
          strategy['rollingUpdate'],
          "only allowed for updateStrategy 'RollingUpdate'",
        ),
      );
    }
  } else if (strategy['type'] !== 'RollingUpdate') {
    errors.push(invalidValue('spec.updateStrategy', strategy, "must be 'RollingUpdate' or 'OnDelete'"));
  }
  errors.push(...nonNegative(spec, 'spec', ['replicas', 'minReadySeconds']));
  const service = asText(spec['serviceName']);
  if (service) for (const text of dnsLabel(service)) errors.push(invalidValue('spec.serviceName', service, text));
  for (const [index, claim] of asObjects(spec['volumeClaimTemplates']).entries()) {
    errors.push(...validateClaimSpec(asObject(claim['spec']) ?? {}, `spec.volumeClaimTemplates[${index}].spec`));
  }
  return [...errors, ...selectorAndTemplate(spec, 'statefulset', 'StatefulSet')];
}

const fixedStatefulSetFields = ['serviceName', 'selector', 'podManagementPolicy', 'volumeClaimTemplates'];

export const statefulSetStrategy: Strategy = withStatus({
  hasGeneration: true,
  applyDefaults(object) {
    const spec = specOf(object);
    defaultText(spec, 'podManagementPolicy', 'OrderedReady');
    const strategy = ensureObject(spec, 'updateStrategy');
    defaultText(strategy, 'type', 'RollingUpdate');
    if (strategy['type'] === 'RollingUpdate') {
      const rolling = ensureObject(strategy, 'rollingUpdate');
      defaultTo(rolling, 'partition', 0);
    }
    const retention = ensureObject(spec, 'persistentVolumeClaimRetentionPolicy');
    defaultText(retention, 'whenDeleted', 'Retain');
    defaultText(retention, 'whenScaled', 'Retain');
    defaultTo(spec, 'replicas', 1);
    defaultTo(spec, 'revisionHistoryLimit', 10);
    defaultPodTemplate(spec);
    for (const claim of asObjects(spec['volumeClaimTemplates'])) {
      claim['kind'] = 'PersistentVolumeClaim';
      claim['apiVersion'] = 'v1';
      defaultTo(ensureObject(claim, 'spec'), 'volumeMode', 'Filesystem');
      defaultText(ensureObject(claim, 'status'), 'phase', 'Pending');
    }
  },
  validate: validateStatefulSet,
  validateUpdate: (object, previous) => [
    ...validateStatefulSet(object),
    ...(fixedStatefulSetFields.every((field) => sameValue(specOf(object)[field], specOf(previous)[field]))
      ? []
      : [
          forbiddenField(
            'spec',
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
          ),
        ]),
  ],
  validateStatusUpdate: validateReplicaStatus,
  cells: statefulSetCells,
});

const templateGeneration = 'deprecated.daemonset.template.generation';

function validateDaemonSet(object: ApiObject): FieldError[] {
  const spec = specOf(object);
  const errors = [
    ...selectorAndTemplate(spec, 'daemonset', 'DaemonSet'),
    ...nonNegative(spec, 'spec', ['minReadySeconds', 'revisionHistoryLimit']),
  ];
  const strategy = asObject(spec['updateStrategy']) ?? {};
  if (!['RollingUpdate', 'OnDelete'].includes(asText(strategy['type']))) {
    errors.push(notSupported('spec.updateStrategy.type', strategy['type'], ['RollingUpdate', 'OnDelete']));
  }
  return errors;
}

export const daemonSetStrategy: Strategy = withStatus({
  hasGeneration: true,
  applyDefaults(object) {
    const spec = specOf(object);
    const strategy = ensureObject(spec, 'updateStrategy');
    defaultText(strategy, 'type', 'RollingUpdate');
    if (strategy['type'] === 'RollingUpdate') {
      const rolling = ensureObject(strategy, 'rollingUpdate');
      defaultTo(rolling, 'maxUnavailable', 1);
      defaultTo(rolling, 'maxSurge', 0);
    }
    defaultTo(spec, 'revisionHistoryLimit', 10);
    defaultPodTemplate(spec);
    object.metadata.annotations = { [templateGeneration]: '0', ...object.metadata.annotations };
  },
  prepareForCreate(object) {
    object.metadata.annotations = { ...object.metadata.annotations, [templateGeneration]: '1' };
  },
  prepareForUpdate(object, previous) {
    const before = Number(previous.metadata.annotations?.[templateGeneration] ?? '1');
    const changed = !sameValue(dig(object, 'spec', 'template'), dig(previous, 'spec', 'template'));
    object.metadata.annotations = {
      ...object.metadata.annotations,
      [templateGeneration]: String(changed ? before + 1 : before),
    };
  },
  validate: validateDaemonSet,
  validateUpdate: (object, previous) => [
    ...validateDaemonSet(object),
    ...immutable(specOf(object), specOf(previous), 'spec', ['selector']),
  ],
  cells: daemonSetCells,
});

export const controllerRevisionStrategy: Strategy = strategyWith({
  validate: (object) => [
    ...(object['data'] == null ? [required('data', 'data is mandatory')] : []),
    ...((asNumber(object['revision']) ?? 0) < 0
      ? [invalidValue('revision', object['revision'], 'must be greater than or equal to 0')]
      : []),
  ],
  validateUpdate: (object, previous) =>
    immutable(object as unknown as JsonObject, previous as unknown as JsonObject, '', ['data']),
  cells: (object, now) => {
    const owner = object.metadata.ownerReferences?.find((reference) => reference.controller === true);
    const group = owner?.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : '';
    return [
      object.metadata.name ?? '',
      owner ? `${owner.kind.toLowerCase()}${group}/${owner.name}` : '<none>',
      String(object['revision'] ?? 0),
      ageOf(object.metadata.creationTimestamp, now),
    ];
  },
});

export const podTemplateStrategy: Strategy = strategyWith({
  deleteReturnsObject: true,
  hasGeneration: true,
  generationChanged: (next, previous) => !sameValue(next['template'], previous['template']),
  applyDefaults: (object) => defaultPodTemplate(object as unknown as JsonObject),
  validate: (object) => validatePodTemplate(object['template'] ?? {}, 'template'),
  cells: (object) => [
    object.metadata.name ?? '',
    ...containerCells(dig(object, 'template', 'spec')),
    labelsText(dig(object, 'template', 'metadata', 'labels')) || '<none>',
  ],
});
