import { describe, expect, it } from 'vitest';
import { toPlain } from '../go/values.ts';
import { readJson } from './json.ts';

describe('readJson', () => {
  it.each([
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['"a', 'unexpected end of JSON input'],
    ['{"a": 1} x', "invalid character 'x' after top-level value"],
    ['01', "invalid character '1' after top-level value"],
    ['{a: 1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a": 1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a": 1 "b"}', `invalid character '"' after object key:value pair`],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ["'a'", String.raw`invalid character '\'' looking for beginning of value`],
    ['é', "invalid character 'Ã' looking for beginning of value"],
    ['nul', "invalid character ' ' in literal null (expecting 'l')"],
    ['-', "invalid character ' ' in numeric literal"],
    ['1.', "invalid character ' ' after decimal point in numeric literal"],
    ['1e+', "invalid character ' ' in exponent of numeric literal"],
    ['"\n"', String.raw`invalid character '\n' in string literal`],
    [String.raw`"\x"`, "invalid character 'x' in string escape code"],
    [String.raw`"\u00g0"`, String.raw`invalid character 'g' in \u hexadecimal character escape`],
    ['{"a": 1e400}', 'json: cannot unmarshal number 1e400 into Go value of type float64'],
  ])('complains about %j as Go does', (text, complaint) => {
    expect(() => readJson(text)).toThrow(new Error(complaint));
  });

  it('reads each half of a character, and each byte that is none, as U+FFFD', () => {
    expect(toPlain(readJson(String.raw`["\ud83d\ude00", "\ud83d", "\udc80x", "\\ud83d", "${'\udc80'}"]`))).toEqual([
      '😀',
      '\ufffd',
      '\ufffdx',
      String.raw`\ud83d`,
      '\ufffd',
    ]);
  });
});
