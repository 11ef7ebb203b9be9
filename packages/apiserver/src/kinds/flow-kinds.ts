import type { FieldError } from '../api-error.ts';
import type { ApiObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { ageOf } from './ages.ts';
import { requiredName, requiredWord } from './field-checks.ts';
import { required } from './field-errors.ts';
import { asNumber, asObject, asObjects, asText, dig, ensureObject } from './json-access.ts';
import { withStatus } from './with-status.ts';

const name = (object: ApiObject): string => object.metadata.name ?? '';

/** Not even a wrong uid is told: all of the metadata is that of the stored object. */
const keptMetadata = {
  statusKeepsMetadata: true,
  prepareForStatusUpdate: (object: ApiObject, previous: ApiObject) =>
    void (object.metadata.uid = previous.metadata.uid),
};

function validateFlowSchema(object: ApiObject): FieldError[] {
  const field = 'spec.priorityLevelConfiguration.name';
  const level = asText(dig(object, 'spec', 'priorityLevelConfiguration', 'name'));
  return level ? requiredName(level, field) : [required(field, 'must reference a priority level')];
}

export const flowSchemaStrategy: Strategy = withStatus({
  validate: validateFlowSchema,
  validateUpdate: validateFlowSchema,
  ...keptMetadata,
  hasGeneration: true,
  applyDefaults(object) {
    const spec = ensureObject(object as unknown as Record<string, never>, 'spec');
    if (!spec['matchingPrecedence']) spec['matchingPrecedence'] = 1000;
  },
  cells: (object, now) => {
    const dangling = asObjects(dig(object, 'status', 'conditions')).find((c) => c['type'] === 'Dangling');
    return [
      name(object),
      asText(dig(object, 'spec', 'priorityLevelConfiguration', 'name')),
      asNumber(dig(object, 'spec', 'matchingPrecedence')) ?? 0,
      asText(dig(object, 'spec', 'distinguisherMethod', 'type')) || '<none>',
      ageOf(object.metadata.creationTimestamp, now),
      asText(dangling?.['status']) || '?',
    ];
  },
});

function validatePriorityLevel(object: ApiObject): FieldError[] {
  const spec = asObject(object['spec']) ?? {};
  const errors = requiredWord(spec['type'], 'spec.type', ['Exempt', 'Limited']);
  if (spec['type'] !== 'Limited') return errors;
  const limited = asObject(spec['limited']);
  if (!limited) return [...errors, required('spec.limited', 'must not be empty when type is Limited')];
  const response = dig(limited, 'limitResponse', 'type');
  return [...errors, ...requiredWord(response, 'spec.limited.limitResponse.type', ['Queue', 'Reject'])];
}

export const priorityLevelStrategy: Strategy = withStatus({
  validate: validatePriorityLevel,
  validateUpdate: validatePriorityLevel,
  ...keptMetadata,
  hasGeneration: true,
  cells: (object, now) => {
    const limited = asObject(dig(object, 'spec', 'limited'));
    const queuing = asObject(dig(limited, 'limitResponse', 'queuing'));
    const shown = (value: unknown): string => (typeof value === 'number' ? String(value) : '<none>');
    return [
      name(object),
      asText(dig(object, 'spec', 'type')),
      shown(limited?.['nominalConcurrencyShares']),
      shown(queuing?.['queues']),
      shown(queuing?.['handSize']),
      shown(queuing?.['queueLengthLimit']),
      ageOf(object.metadata.creationTimestamp, now),
    ];
  },
});
