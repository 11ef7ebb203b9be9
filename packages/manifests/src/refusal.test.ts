import { KubeError, type Status } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { isAdmissionDenial, refusalText, refusedMember } from './refusal.ts';

const ref = { group: '', kind: 'ConfigMap', namespace: 'default', name: 'a' };
const answer = (status: Status) => KubeError.fromStatus({ kind: 'Status', status: 'Failure', ...status });

/** Answers as kube-apiserver gives them; the texts are not what counts. */
const webhookDenial = answer({ code: 400, message: 'one' });
const webhookDenialWithCode = answer({ code: 403, reason: 'Forbidden', message: 'two' });
const policyDenial = answer({
  code: 422,
  reason: 'Invalid',
  message: 'three',
  details: { name: 'a', kind: 'configmaps', causes: [{ message: 'not here' }] },
});
const missingRight = answer({
  code: 403,
  reason: 'Forbidden',
  message: 'four',
  details: { name: 'a', kind: 'configmaps' },
});
const brokenRule = answer({
  code: 422,
  reason: 'Invalid',
  message: 'five',
  details: { name: 'a', kind: 'ConfigMap', causes: [{ reason: 'FieldValueInvalid', message: 'no', field: 'data' }] },
});
const malformed = answer({ code: 400, reason: 'BadRequest', message: 'six' });
const missingNamespace = answer({
  code: 404,
  reason: 'NotFound',
  message: 'seven',
  details: { name: 'nowhere', kind: 'namespaces' },
});
const notServed = KubeError.fromResponse({ status: 404, headers: {}, body: Buffer.from('404 page not found') });
const serverFault = answer({ code: 500, reason: 'InternalError', message: 'eight' });
const conflict = answer({ code: 409, reason: 'Conflict', message: 'nine' });

describe('what a refusal means is read from its code, reason and details', () => {
  test.each([
    ['a webhook without a code', webhookDenial, true],
    ['a webhook with a code', webhookDenialWithCode, true],
    ['a policy', policyDenial, true],
    ['a missing right', missingRight, false],
    ['a broken rule of the kind', brokenRule, false],
    ['a request that cannot be read', malformed, false],
    ['a missing namespace', missingNamespace, false],
    ['a server fault', serverFault, false],
    ['not even an answer', new Error('admission webhook denied the request'), false],
  ])('%s', (_name, error, denial) => {
    expect(isAdmissionDenial(error)).toBe(denial);
  });

  test.each([
    ['a conflict', conflict, true],
    ['a server fault', serverFault, true],
    ['a kind that was found and is not served', notServed, true],
    ['a denial', policyDenial, false],
    ['a missing right', missingRight, false],
    ['a missing namespace', missingNamespace, false],
  ])('whether %s may pass by itself', (_name, error, retriable) => {
    expect(refusedMember(ref, error)).toMatchObject({ ref, action: 'failed', retriable, error });
  });

  test.each([
    [webhookDenial, 'one; change the object, or what denies it'],
    [policyDenial, 'three; change the object, or what denies it'],
    [missingRight, 'four; allow it with a role, or take the object out of the set'],
    [brokenRule, 'five'],
    [missingNamespace, 'seven; add the Namespace to the set or create it first'],
    [serverFault, 'eight; if a webhook is named, see whether its service runs; it will be tried again'],
    [conflict, 'nine; it will be tried again'],
  ])('the hint of %#', (error, text) => {
    expect(refusalText(error)).toBe(text);
  });
});
