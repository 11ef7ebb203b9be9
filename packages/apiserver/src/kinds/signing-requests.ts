import type { FieldError } from '../api-error.ts';
import { kubeTime } from '../clock.ts';
import type { ApiObject, Json, JsonObject } from '../object.ts';
import type { Strategy, StrategyContext } from '../resource.ts';
import { ageOf, humanDuration } from './ages.ts';
import { certificateRequestProblem } from './certificate-request.ts';
import { repeated } from './field-checks.ts';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from './field-errors.ts';
import { asList, asNumber, asObject, asObjects, asText, dig } from './json-access.ts';
import { dnsSubdomain } from './names.ts';
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

/** What a certificate may be for, in the words of the API. */
const usages: readonly string[] = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const shortestSeconds = 600;

function validateRequest(object: ApiObject): FieldError[] {
  const spec = asObject(object['spec']) ?? {};
  const request = spec['request'];
  const problem = certificateRequestProblem(Buffer.from(asText(request), 'base64'));
  const asked = asList(spec['usages']);
  const seconds = asNumber(spec['expirationSeconds']);
  return [
    ...(problem === undefined ? [] : [invalidValue('spec.request', request ?? null, problem)]),
    ...(asked.length === 0 ? [required('spec.usages')] : []),
    ...asked.flatMap((usage, index) =>
      usages.includes(asText(usage)) ? [] : [notSupported(`spec.usages[${index}]`, usage, usages)],
    ),
    ...repeated(asked, 'spec.usages'),
    ...signerNameErrors(asText(spec['signerName'])),
    ...(seconds !== undefined && seconds < shortestSeconds
      ? [
          invalidValue(
            'spec.expirationSeconds',
            seconds,
            `may not specify a duration less than ${shortestSeconds} seconds (10 minutes)`,
          ),
        ]
      : []),
  ];
}

function signerNameErrors(signer: string): FieldError[] {
  if (!signer) return [required('spec.signerName')];
  const [domain = '', ...path] = signer.split('/');
  if (path.length !== 1) {
    return [
      invalidValue(
        'spec.signerName',
        signer,
        "must be a fully qualified domain and path of the form 'example.com/signer-name'",
      ),
    ];
  }
  if (!domain.includes('.')) {
    return [invalidValue('spec.signerName', domain, 'should be a domain with at least two segments separated by dots')];
  }
  return [domain, path[0]!].flatMap((part) =>
    dnsSubdomain(part).map((text) => invalidValue('spec.signerName', part, text)),
  );
}

export const signingRequestStrategy: Strategy = withStatus({
  validate: validateRequest,
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
