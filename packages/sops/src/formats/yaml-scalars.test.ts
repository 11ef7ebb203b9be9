import { expect, test } from 'vitest';

import { Timestamp } from '../tree.ts';
import { resolvePlain } from './yaml-scalars.ts';

test.each([
  ['017', 15n],
  ['0o17', 15n],
  ['0x1F', 31n],
  ['0b101', 5n],
  ['1_000', 1000n],
  ['-5', -5n],
  ['9007199254740993', 9007199254740993n],
  ['09', 9],
  ['1.', 1],
  ['1e3', 1000],
  ['1e400', '1e400'],
  ['.5', 0.5],
  ['~', null],
  ['yes', 'yes'],
  ['12:30:45', '12:30:45'],
  ['True', true],
  ['1.2.3', '1.2.3'],
  ['-', '-'],
  ['2026-13-01', '2026-13-01'],
  ['2026-02-30', '2026-02-30'],
  ['2026-11-15T07:00:00+24:00', '2026-11-15T07:00:00+24:00'],
])('%s means what the Go library takes it for', (text, meaning) => {
  expect(resolvePlain(text, 'here')).toEqual(meaning);
});

test.each([
  ['2026-11-15', '2026-11-15T00:00:00Z'],
  ['2026-1-2 3:4:5.600', '2026-01-02T03:04:05.6Z'],
  ['2026-11-15T07:00:00+01:00', '2026-11-15T07:00:00+01:00'],
  ['2026-11-15T07:00:00,50-00:00', '2026-11-15T07:00:00.5Z'],
  ['2026-11-15t07:00:00.1234567899+01:30', '2026-11-15T07:00:00.123456789+01:30'],
  ['0000-02-29', '0000-02-29T00:00:00Z'],
])('%s is a point in time', (text, written) => {
  expect(resolvePlain(text, 'here')).toEqual(new Timestamp(written));
});

test('a whole number beyond int64 is refused by name, not rounded', () => {
  expect(() => resolvePlain('9223372036854775808', 'apps.big')).toThrow(/^apps\.big: .*int64/);
});
