import type { FieldError } from '../api-error.ts';
import { kubeTime } from '../clock.ts';
import type { ApiObject, Json, JsonObject } from '../object.ts';
import type { Strategy, StrategyContext } from '../resource.ts';
import { ageOf, humanDuration } from './ages.ts';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from './field-errors.ts';
import { asNumber, asObject, asObjects, asText, dig } from './json-access.ts';
import { restoreAllButStatus, withStatus } from './with-status.ts';

const decisions: readonly unknown[] = ['Approved', 'Denied'];

function conditionsOf(object: ApiObject): JsonObject[] {
  return asObjects(dig(object, 'status', 'conditions'));
}

function requestState(object: ApiObject): string {
  const types = conditionsOf(object).map((condition) => asText(condition['type']));
  if (types.length === 0) return 'Pending';
  const states = [types.includes('Denied') ? 'Denied' : 'Approved'];
  if (types.includes('Failed')) states.push('Failed');
  if (asText(dig(object, 'status', 'certificate'))) states.push('Issued');
  return states.join(',');
}

/** Conditions get the times their writer left out; a condition that was there keeps the time it came. */
function fillTimes(object: ApiObject, previous: ApiObject, { clock }: StrategyContext): void {
  const now = kubeTime(clock.now());
  for (const condition of conditionsOf(object)) {
    condition['lastUpdateTime'] ??= now;
    const before = conditionsOf(previous).find(
      ({ type, status }) => type === condition['type'] && status === condition['status'],
    );
    condition['lastTransitionTime'] ??= before?.['lastTransitionTime'] ?? now;
  }
}

function conditionErrors(object: ApiObject): FieldError[] {
  const at = 'status.conditions';
  const errors: FieldError[] = [];
  const seen = new Set<unknown>();
  for (const [index, condition] of conditionsOf(object).entries()) {
    const type = asText(condition['type']);
    const status = asText(condition['status']);
    if (!type) errors.push(required(`${at}[${index}].type`));
    if (!status) errors.push(required(`${at}[${index}].status`));
    else if (type === 'Failed' || decisions.includes(type)) {
      if (status !== 'True') errors.push(notSupported(`${at}[${index}].status`, status, ['True']));
    } else if (!['True', 'False', 'Unknown'].includes(status)) {
      errors.push(notSupported(`${at}[${index}].status`, status, ['True', 'False', 'Unknown']));
    }
    if (decisions.includes(type) && decisions.some((decision) => decision !== type && seen.has(decision))) {
      errors.push(invalidValue(at, type, 'Approved and Denied conditions are mutually exclusive'));
    }
    if (seen.has(type)) errors.push(duplicate(`${at}[${index}].type`, type));
    seen.add(type);
  }
  return errors;
}

/** The decisions `other` has and `object` has not. */
function decisionErrors(object: ApiObject, other: ApiObject, verb: 'add' | 'remove'): FieldError[] {
  const has = new Set(conditionsOf(object).map(({ type }) => type));
  return conditionsOf(other)
    .filter(({ type }) => decisions.includes(type) && !has.has(type!))
    .map(({ type }) =>
      forbiddenField('status.conditions', `updates may not ${verb} a condition of type "${asText(type)}"`),
    );
}

export const signingRequestStrategy: Strategy = withStatus({
  prepareForUpdate: (object, previous) => {
    object['spec'] = previous['spec'];
  },
  prepareForStatusUpdate: (object, previous, context) => {
    restoreAllButStatus(object, previous);
    fillTimes(object, previous, context);
  },
  prepareForApproval: (object, previous, context) => {
    restoreAllButStatus(object, previous);
    fillTimes(object, previous, context);
    const conditions = dig(object, 'status', 'conditions') as Json | undefined;
    object['status'] = { ...asObject(previous['status']), ...(conditions === undefined ? {} : { conditions }) };
    if (conditions === undefined) delete (object['status'] as JsonObject)['conditions'];
  },
  // Who may write the status may not decide about the request, and nobody takes a decision back.
  validateStatusUpdate: (object, previous) => [
    ...conditionErrors(object),
    ...decisionErrors(object, previous, 'remove'),
    ...decisionErrors(previous, object, 'add'),
  ],
  validateApproval: (object, previous) => [...conditionErrors(object), ...decisionErrors(object, previous, 'remove')],
  selectableFields: { 'spec.signerName': (object) => asText(dig(object, 'spec', 'signerName')) },
  cells: (object, now) => {
    const seconds = asNumber(dig(object, 'spec', 'expirationSeconds'));
    return [
      object.metadata.name ?? '',
      ageOf(object.metadata.creationTimestamp, now),
      asText(dig(object, 'spec', 'signerName')) || '<none>',
      asText(dig(object, 'spec', 'username')) || '<none>',
      seconds === undefined ? '<none>' : humanDuration(seconds * 1000),
      requestState(object),
    ];
  },
});
