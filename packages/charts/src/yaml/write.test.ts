import { describe, expect, it } from 'vitest';

import { fromPlain } from '../go/values.ts';
import { writeYaml } from './write.ts';

describe('writeYaml', () => {
  it.each([
    [
      'what belongs to a long key begins on its line',
      { ['k'.repeat(130)]: [1, [2]], 'a\nb': { c: 1, d: 2 } },
      `? |-\n  a\n  b\n: c: 1\n  d: 2\n? ${'k'.repeat(130)}\n: - 1\n  - - 2\n`,
    ],
    ['a key with the end of a line in it is a long one', { '\r': 1 }, '? "\\r"\n: 1\n'],
    [
      'numbers are integers as far as 64 bits hold them',
      [1e19, 1e20, -1e19, 9e15],
      '- 10000000000000000000\n- 1e+20\n- -1e+19\n- 9000000000000000\n',
    ],
    [
      'with as few digits as tell them from others',
      [2 ** 60, 2 ** 63, -(2 ** 63)],
      '- 1152921504606847000\n- 9223372036854776000\n- -9.223372036854776e+18\n',
    ],
    [
      'a line ends where Unicode says so, too',
      ['a\nb\u2028c\n\u2028d', 'x\u2029y', { k: 'a\nb\u2028', l: 1 }],
      "- |-\n  a\n  b\u2028  c\n\u2028  d\n- 'x\u2029  y'\n- k: |\n    a\n    b\u2028  l: 1\n",
    ],
    ['after a byte order mark every character is escaped', ['\ufeffx1'], '- "\\uFEFF\\x78\\x31"\n'],
  ])('%s', (_sentence, value, expected) => {
    expect(writeYaml(fromPlain(value))).toBe(expected);
  });

  it.each([
    ['no character beyond the basic plane', '😀', '"\\U0001F600"\n'],
    ['tabs in a block', 'a\tb\nc', '|-\n  a\tb\n  c\n'],
    ['bytes that are no text as such', 'a\udcff', '!!binary Yf8=\n'],
  ])('has as go-yaml v3 has %s', (_sentence, value, expected) => {
    expect(writeYaml(value, { dialect: 'v3' })).toBe(expected);
  });

  it('writes through JSON what Helm reads back, and refuses the rest', () => {
    expect(writeYaml('a \u0085b', { throughJson: true })).toBe('a b\n');
    expect(() => writeYaml('a\x7f', { throughJson: true })).toThrow('control characters are not allowed');
    const longest = 'k'.repeat(1022);
    expect(writeYaml(new Map([[longest, 1]]), { throughJson: true })).toBe(`? ${longest}\n: 1\n`);
    for (const key of [`${longest}k`, 'a\u0085b'])
      expect(() => writeYaml(new Map([[key, 1]]), { throughJson: true })).toThrow("did not find expected ',' or '}'");
    expect(writeYaml('a\x7f')).toBe('"a\\x7F"\n');
  });
});
