import { describe, expect, test } from 'vitest';

import {
  isAlreadyExists,
  isBadRequest,
  isConflict,
  isConnectionFailure,
  isForbidden,
  isGone,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isServerUnavailable,
  isTimeout,
  isTooLargeResourceVersion,
  isTooManyRequests,
  isTransient,
  isUnauthorized,
  isUnknownKind,
  KubeError,
  retryAfter,
  type Status,
} from './kube-error.ts';

const tests = {
  isAlreadyExists,
  isBadRequest,
  isConflict,
  isConnectionFailure,
  isForbidden,
  isGone,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isServerUnavailable,
  isTimeout,
  isTooLargeResourceVersion,
  isTooManyRequests,
  isTransient,
  isUnauthorized,
  isUnknownKind,
};

/** Names of all tests that hold for an error. */
function verdicts(error: unknown): string[] {
  return Object.entries(tests)
    .filter(([, holds]) => holds(error))
    .map(([name]) => name);
}

const respond = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  KubeError.fromResponse(
    { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) },
    'get Pod.v1 a/b',
  );
const answer = (code: number, reason: string, details?: Status['details'], message = 'said so') =>
  respond(code, { kind: 'Status', code, reason, message, details });

describe('KubeError', () => {
  const cases: [error: KubeError, expected: string[]][] = [
    [answer(404, 'NotFound', { name: 'b', kind: 'pods' }), ['isNotFound']],
    [answer(404, 'NotFound'), ['isNotFound', 'isUnknownKind']],
    [respond(404, '404 page not found'), ['isNotFound', 'isUnknownKind']],
    [answer(409, 'Conflict', { name: 'b' }), ['isConflict']],
    [answer(409, 'AlreadyExists', { name: 'b' }), ['isAlreadyExists']],
    [answer(410, 'Expired'), ['isGone']],
    [answer(410, 'Gone'), ['isGone']],
    [answer(422, 'Invalid'), ['isInvalid']],
    [answer(400, 'BadRequest'), ['isBadRequest']],
    [answer(401, 'Unauthorized'), ['isUnauthorized']],
    [answer(403, 'Forbidden'), ['isForbidden']],
    [
      answer(403, 'Forbidden', { causes: [{ reason: 'NamespaceTerminating' }] }),
      ['isForbidden', 'isNamespaceTerminating'],
    ],
    [answer(429, 'TooManyRequests'), ['isTooManyRequests', 'isTransient']],
    [respond(503, 'no backend'), ['isServerUnavailable', 'isTransient']],
    [respond(502, '<html>'), ['isServerUnavailable', 'isTransient']],
    [answer(500, 'InternalError'), ['isTransient']],
    [answer(504, 'Timeout'), ['isTimeout', 'isTransient']],
    [
      answer(504, 'Timeout', { causes: [{ reason: 'ResourceVersionTooLarge' }] }, 'Too large resource version: 9'),
      ['isTimeout', 'isTooLargeResourceVersion', 'isTransient'],
    ],
    [answer(504, 'Timeout', {}, 'a webhook said: too large resource version'), ['isTimeout', 'isTransient']],
    [
      new KubeError('no answer', { reason: 'ConnectionFailed' }),
      ['isConnectionFailure', 'isServerUnavailable', 'isTransient'],
    ],
    [new KubeError('late', { reason: 'RequestTimeout' }), ['isConnectionFailure', 'isTimeout', 'isTransient']],
  ];
  test.each(cases)('%s is what it is', (error, expected) => expect(verdicts(error)).toEqual(expected));

  test('nothing else passes for one', () => {
    expect(verdicts(new Error('NotFound'))).toEqual([]);
    expect(verdicts({ code: 404, reason: 'NotFound' })).toEqual([]);
    expect(verdicts(undefined)).toEqual([]);
  });

  test('carries what the server said', () => {
    const error = answer(422, 'Invalid', { causes: [{ field: 'spec.x', message: 'bad' }], retryAfterSeconds: 2 });
    expect(error).toMatchObject({
      name: 'KubeError',
      message: 'said so',
      code: 422,
      reason: 'Invalid',
      operation: 'get Pod.v1 a/b',
      details: { causes: [{ field: 'spec.x' }] },
      retryAfterMs: 2_000,
    });
  });

  test('keeps an answer that is no Status short', () => {
    expect(respond(500, `x${'y'.repeat(1_000)}`).message.length).toBeLessThan(250);
    expect(respond(500, '').message).toBe('the server answered 500');
    expect(respond(500, '{"kind":"Status"').message).toContain('500');
  });

  test.each([
    ['3', 3_000],
    [' 3 ', 3_000],
    [['4', '5'], 4_000],
    ['Wed, 21 Oct 2015 07:28:00 GMT', undefined],
    ['-1', undefined],
    [undefined, undefined],
  ])('Retry-After %j is %s ms', (header, expected) => expect(retryAfter(header)).toBe(expected));
});
