import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { semanticallyEqual, jsonEqual } from './equality.ts';
import { createJsonPatch, applyJsonPatch } from './json-patch.ts';
import { integerFrom, isLargeInteger, parseJson, toBigInt } from './json.ts';
import { validateValue } from './kinds/validate-object.ts';
import { applyMergePatch, createMergePatch } from './merge-patch.ts';
import { mutable } from './mutable.ts';

const odd = '{"a":9007199254740993}';
const parsed = (text: string) => parseJson(text) as Record<string, unknown>;

describe('integers above 2^53', () => {
  test.each([
    '9007199254740993',
    '-9007199254740993',
    '9223372036854775807',
    '-9223372036854775808',
    '18446744073709551615',
  ])('%s arrives and leaves as it is', (digits) => {
    const text = `{"a":${digits},"b":[${digits}],"c":"${digits}","d":1.5}`;
    const value = parsed(text);
    expect(isLargeInteger(value['a'])).toBe(true);
    expect(value['c']).toBe(digits);
    expect(JSON.stringify(value)).toBe(text);
    expect(JSON.stringify(mutable(value))).toBe(text);
    expect(toBigInt(value['a'] as never)).toBe(BigInt(digits));
  });

  test('whatever integer there is, the digits stay', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }), fc.json(), (integer, rest) => {
        const text = `{"integer":${integer},"rest":${JSON.stringify(JSON.parse(rest))}}`;
        expect(JSON.stringify(mutable(parseJson(text)))).toBe(JSON.stringify(parseJson(text)));
        expect(JSON.stringify(parsed(text)['integer'])).toBe(String(integer));
        expect(JSON.stringify(integerFrom(integer))).toBe(String(integer));
      }),
    );
  });

  test('safe ones, fractions and exponents are plain numbers', () => {
    const value = parsed('{"a":9007199254740991,"b":0.1000000000000000055,"c":1e20,"pad":"0000000000000000"}');
    expect(value).toEqual({ a: 9007199254740991, b: 0.1, c: 1e20, pad: '0000000000000000' });
  });

  test('they are equal to themselves and to no neighbour', () => {
    for (const equal of [jsonEqual, semanticallyEqual]) {
      expect(equal(parseJson(odd), parseJson(odd))).toBe(true);
      expect(equal(parseJson(odd), parseJson('{"a":9007199254740994}'))).toBe(false);
      expect(equal(parseJson(odd), JSON.parse(odd))).toBe(false);
      expect(equal(parseJson(odd), {})).toBe(false);
      expect(equal(parseJson('{"a":{}}'), parseJson(odd))).toBe(false);
    }
  });

  test('patches carry them whole', () => {
    const next = parsed('{"a":9007199254740995,"b":1}');
    const merge = createMergePatch(parsed(odd), next)!;
    expect(JSON.stringify(merge)).toBe('{"a":9007199254740995,"b":1}');
    expect(JSON.stringify(applyMergePatch(parsed(odd), merge))).toBe(JSON.stringify(next));
    const operations = createJsonPatch(parsed(odd), next);
    expect(JSON.stringify(operations)).toContain('"value":9007199254740995');
    expect(JSON.stringify(applyJsonPatch(parsed(odd), operations))).toBe(JSON.stringify(next));
    expect(createMergePatch(parsed(odd), parsed(odd))).toBeUndefined();
    expect(createJsonPatch(parsed(odd), parsed(odd))).toEqual([]);
  });

  test('a schema takes them for the integers they are, up to 64 bits', () => {
    const { a } = parsed(odd);
    expect(validateValue(a, { type: 'integer' }, 'spec.a')).toEqual([]);
    expect(validateValue(a, { type: 'number' }, 'spec.a')).toEqual([]);
    expect(validateValue(a, { type: 'integer', maximum: 10 }, 'spec.a')).toHaveLength(1);
    expect(validateValue(a, { type: 'string' }, 'spec.a')).toHaveLength(1);
    expect(validateValue(a, { type: 'object' }, 'spec.a')).toHaveLength(1);
    expect(validateValue(parseJson('99999999999999999999'), { type: 'integer' }, 'spec.a')).toHaveLength(1);
  });
});
