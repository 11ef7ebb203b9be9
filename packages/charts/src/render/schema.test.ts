import { describe, expect, it } from 'vitest';

import { fromPlain, type GoMap } from '../go/values.ts';
import { schemaComplaints } from './schema.ts';

const draft = (number: string) => ({ $schema: `http://json-schema.org/draft-${number}/schema#` });
const newest = { $schema: 'https://json-schema.org/draft/2020-12/schema' };

function accepts(schema: object, values: object): boolean {
  return schemaComplaints(Buffer.from(JSON.stringify(schema)), fromPlain(values) as GoMap) === undefined;
}

describe('a pattern of values.schema.json is read as Go reads it', () => {
  it.each([
    ['\\-x', '-x', '+x'],
    ['^\\_\\@\\:x', '_@:x', 'x'],
    ['^[\\_\\-\\@]$', '-', 'x'],
    ['^{{.*}}$', '{{ x }}', '{ x }'],
    ['^a{2}]$', 'aa]', 'a]'],
    ['(?i)^abc$', 'ABC', 'AB'],
    ['^[[:alpha:]-]+$', 'a-b', 'a1'],
    ['^[^[:digit:]]$', 'a', '1'],
    ['^[]_\\-a]\\-$', ']-', 'b-'],
    ['^[[\\_]$', '[', 'a'],
    ['\\A\\_x\\z', '_x', '_x\n'],
    ['^(?P<a>x)\\_$', 'x_', 'y_'],
  ])('%s takes %s and refuses %s', (pattern, good, bad) => {
    for (const schema of [
      { properties: { a: { pattern } } },
      { properties: { pattern: {}, a: { allOf: [{ pattern }] } } },
    ]) {
      expect(accepts(schema, { a: good })).toBe(true);
      expect(accepts(schema, { a: bad })).toBe(false);
    }
    const names = { patternProperties: { [pattern]: { type: 'string' } }, additionalProperties: false };
    expect(accepts(names, { [good]: 'x' })).toBe(true);
    expect(accepts(names, { [bad]: 'x' })).toBe(false);
  });
});

describe('a word of values.schema.json means nothing before the draft that brought it', () => {
  it.each<[object, object, object, object]>([
    [draft('07'), newest, { properties: { a: {} }, unevaluatedProperties: false }, { b: 1 }],
    [draft('07'), newest, { properties: { a: { prefixItems: [{ type: 'string' }] } } }, { a: [1] }],
    [draft('07'), newest, { dependentRequired: { a: ['b'] } }, { a: 1 }],
    [draft('07'), newest, { properties: { a: { contains: { type: 'string' }, minContains: 2 } } }, { a: ['x'] }],
    [draft('06'), draft('07'), { if: { required: ['a'] }, then: { required: ['b'] } }, { a: 1 }],
    [draft('04'), draft('06'), { properties: { a: { const: 1 } } }, { a: 2 }],
    [draft('04'), draft('06'), { propertyNames: { pattern: '^b' } }, { a: 2 }],
  ])('%j, %j: %j', (before, after, schema, values) => {
    expect(accepts({ ...before, ...schema }, values)).toBe(true);
    expect(accepts({ ...after, ...schema }, values)).toBe(false);
  });

  it('and is a name like others where names stand, and a value where values stand', () => {
    const schema = { ...draft('04'), properties: { if: { type: 'string' }, a: { enum: [{ const: 1, format: 'x' }] } } };
    expect(accepts(schema, { if: 'x', a: { const: 1, format: 'x' } })).toBe(true);
    expect(accepts(schema, { if: 1 })).toBe(false);
    expect(accepts(schema, { a: { format: 'x' } })).toBe(false);
  });
});

it('a format is checked up to draft 7, and nearly everything is a reference', () => {
  const address = { properties: { a: { format: 'ipv4' } } };
  expect(accepts({ ...draft('07'), ...address }, { a: 'x' })).toBe(false);
  expect(accepts({ ...newest, ...address }, { a: 'x' })).toBe(true);
  expect(accepts({ ...draft('07'), properties: { a: { format: 'uri-reference' } } }, { a: 'x y' })).toBe(true);
});
