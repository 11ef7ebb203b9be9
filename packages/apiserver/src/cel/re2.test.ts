import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileRe2 } from './re2.ts';

it.each([
  [String.raw`^[[:alpha:]]+\z`, 'abc', true],
  [String.raw`\Aab`, 'xab', false],
  ['(?i)ABC', 'abc', true],
  ['(?P<name>a)b', 'ab', true],
  [String.raw`^\pL+$`, 'äß', true],
  [String.raw`\Qa.b\E`, 'a.b', true],
  [String.raw`\Qa.b\E`, 'axb', false],
  ['^a{b$', 'a{b', true],
  ['^[a-z]{2,3}$', 'abcd', false],
  [String.raw`^\-\_$`, '-_', true],
  ['^[]a]$', ']', true],
])('%s on %j is %j', (pattern, text, expected) => {
  expect(compileRe2(pattern).test(text)).toBe(expected);
});

it.each([
  ['(a+)+$', `${'a'.repeat(200_000)}!`],
  ['(x+x+)+y', 'x'.repeat(200_000)],
  [String.raw`^(\d+\.?\d*)+s$`, '1'.repeat(200_000)],
  ['(a|aa)+$', `${'a'.repeat(200_000)}!`],
  ['(.*a){20}$', 'a'.repeat(20_000) + 'b'],
])('%s comes to an end on a text made to keep others busy for ever', (pattern, text) => {
  expect(compileRe2(pattern).test(text)).toBe(false);
});

it('refuses patterns that would grow beyond bounds', () => {
  expect(() => compileRe2('((a{100}){100}){100}')).toThrow('invalid repeat count');
});

it.each(['(?=a)', '(?<!a)b', String.raw`(a)\1`, '[a', '(a', 'a**'])('refuses %s', (pattern) => {
  expect(() => compileRe2(pattern)).toThrow(/^error parsing regexp: /);
});

it('matches any literal text quoted by \\Q and \\E', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!text.includes('\\E'));
      expect(compileRe2(`^\\Q${text}\\E$`).test(text)).toBe(true);
    }),
  );
});
