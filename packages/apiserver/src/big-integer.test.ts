import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bigintOf, integerOf, isBigInteger, isJsonObject, parseExactly } from './big-integer.ts';
import { cloneJson } from './clone-json.ts';
import { equalJson } from './equal-json.ts';

it('any 64-bit integer comes out as it went in, at any depth', () => {
  const integer = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  fc.assert(
    fc.property(fc.array(fc.oneof(integer, fc.constantFrom(2n ** 53n + 1n, -(2n ** 53n) - 1n))), (integers) => {
      const text = `{"a":[${integers.join(',')}],"b":{"c":[${integers.join(',')}]}}`;
      const value = parseExactly(text) as { a: unknown[] };
      expect(JSON.stringify(value)).toBe(text);
      expect(JSON.stringify(cloneJson(value))).toBe(text);
      expect(equalJson(value, parseExactly(text))).toBe(true);
      expect(value.a.map(bigintOf)).toEqual(integers);
    }),
  );
});

it('numbers that JavaScript holds stay numbers', () => {
  expect(parseExactly('[9007199254740991, 9007199254740992, 1000000000000000000, 1.5]')).toEqual([
    9007199254740991, 9007199254740992, 1e18, 1.5,
  ]);
});

it('what is no 64-bit integer is a double, as in Go', () => {
  expect(JSON.stringify(parseExactly('[18446744073709551615, 9007199254740993.0, 1e300]'))).toBe(
    '[18446744073709552000,9007199254740992,1e+300]',
  );
});

it('two big integers are equal by their value, and neither equals an object that looks like it', () => {
  const big = integerOf(9007199254740993n);
  expect(equalJson(big, integerOf(9007199254740993n))).toBe(true);
  expect(equalJson(big, integerOf(9007199254740995n))).toBe(false);
  expect(equalJson(big, { rawJSON: '9007199254740993' })).toBe(false);
  expect(isJsonObject(big)).toBe(false);
  expect(isBigInteger({ rawJSON: '9007199254740993' })).toBe(false);
  expect(cloneJson({ rawJSON: 'x' })).toEqual({ rawJSON: 'x' });
});

it('digits inside of texts stay texts', () => {
  expect(parseExactly('{"a":"90071992547409931"}')).toEqual({ a: '90071992547409931' });
});
