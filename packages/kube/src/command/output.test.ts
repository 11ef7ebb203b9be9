import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { integerFrom } from '../json.ts';
import { yamlText } from './output.ts';

describe('yamlText', () => {
  test('an integer above 2^53 prints as the number it is', () => {
    expect(yamlText({ limit: integerFrom('9007199254740993'), list: [integerFrom('-9223372036854775808')] })).toBe(
      'limit: 9007199254740993\nlist:\n  - -9223372036854775808\n',
    );
  });

  test.each([
    'yes',
    'no',
    'on',
    'off',
    'y',
    'n',
    'Yes',
    '12:30:45',
    '017',
    '0o17',
    '1_000',
    '+_0',
    '0x1f',
    '2024-01-02',
    '<<',
    '=',
    '~',
    '1e3',
    'true',
  ])('the text %s stays a text for readers of YAML 1.1 and of YAML 1.2', (text) => {
    const written = yamlText({ text });
    expect(parse(written, { version: '1.1' })).toEqual({ text });
    expect(parse(written, { version: '1.2' })).toEqual({ text });
  });
});
