import { expect, test } from 'vitest';
import { parse } from 'yaml';

import { blockText, inlineText } from './yaml-strings.ts';

// As the Go library of sops writes them.
test.each([
  ['hunter2', 'hunter2'],
  ["it's", "it's"],
  ['http://x:80/?a=b#c', 'http://x:80/?a=b#c'],
  ['-x', '-x'],
  ['é', 'é'],
  ['tRue', 'tRue'],
  ['08', '"08"'],
  ['yes', '"yes"'],
  ['Off', '"Off"'],
  ['null', '"null"'],
  ['1', '"1"'],
  ['12:30:45', '"12:30:45"'],
  ['2026-11-15', '"2026-11-15"'],
  ['', '""'],
  ['a: b', "'a: b'"],
  ['a #b', "'a #b'"],
  [' a', "' a'"],
  ['a ', "'a '"],
  ['*x', "'*x'"],
  ['no:', "'no:'"],
  ['{a}', "'{a}'"],
  ["'", "''''"],
  ['a\tb', '"a\\tb"'],
  ['a\nb', '"a\\nb"'],
  ['\u0085', '"\\N"'],
  ['😀', '"\\U0001F600"'],
  ['18446744073709551615', '"18446744073709551615"'],
])('the string %j is written %s', (text, written) => {
  expect(inlineText(text)).toBe(written);
  expect(parse(written)).toBe(text);
});

test.each([
  ['a\nb\n', '|\n    a\n    b'],
  ['a\nb', '|-\n    a\n    b'],
  ['a\n\n', '|+\n    a\n'],
  ['a\n  b\n', '|\n    a\n      b'],
  [' begins with a blank\n', '|4\n     begins with a blank'],
  ['\n', '|4+\n'],
])('the lines %j are written as a block', (text, written) => {
  expect(blockText(text, 4, 4)).toBe(written);
  expect(parse(`a: ${written}\n`)).toEqual({ a: text });
});

test.each(['one line', 'ends a line with one \n', 'is\rnot printable\n'])('%j is no block', (text) => {
  expect(blockText(text, 4, 4)).toBeUndefined();
});

test.each([' begins with a blank\n', '\n'])('%j is no block where it is not one step farther in', (text) => {
  expect(blockText(text, 6, undefined)).toBeUndefined();
});
