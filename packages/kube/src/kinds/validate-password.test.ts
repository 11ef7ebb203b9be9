import { expect, test } from 'vitest';

import { integerFrom } from '../json.ts';
import type { JsonSchemaProps } from './cluster-types.ts';
import { problemText, validateValue } from './validate-object.ts';

const password = { format: 'password' } as const;

test.each<[string, unknown, JsonSchemaProps]>([
  ['of another type', 73314419220, { type: 'string', ...password }],
  ['that is a flag', true, { type: 'string', ...password }],
  ['that is a list', ['canary-1'], { type: 'string', ...password }],
  ['that is too short', 'canary-1', { type: 'string', minLength: 20, ...password }],
  ['that does not match', 'canary-1', { type: 'string', pattern: '^x', ...password }],
  ['that is none of those allowed', 'canary-1', { type: 'string', enum: ['x'], ...password }],
  ['that is a number out of range', 73314419220, { type: 'integer', maximum: 5, minimum: -5, ...password }],
  ['that is no multiple', 73314419220, { type: 'integer', multipleOf: 7919, ...password }],
  ['that does not fit', integerFrom('73314419220733144192207'), { type: 'integer', ...password }],
  ['given twice', ['canary-1', 'canary-1'], { type: 'array', 'x-kubernetes-list-type': 'set', items: password }],
])('a password %s is refused without being quoted', (_name, value, schema) => {
  const text = problemText(validateValue(value, schema, 'secret'));
  expect(text).toMatch(/^secret/);
  expect(text).not.toMatch(/canary|73314419220/);
});

test('any other value is quoted', () => {
  expect(problemText(validateValue('short', { type: 'string', minLength: 20 }, 'name'))).toContain('"short"');
});
