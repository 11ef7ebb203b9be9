import { expect, it } from 'vitest';
import { hasFormat } from './formats.ts';

it.each([
  ['duration', '1'.repeat(1_000_000)],
  ['duration', `${'1s'.repeat(500_000)}!`],
  ['uri', `a:${'a:'.repeat(500_000)} `],
  ['email', `${'a'.repeat(1_000_000)}@`],
  ['hostname', `${'a-'.repeat(500_000)}!`],
  ['creditcard', '4'.repeat(1_000_000)],
  ['isbn', '9 '.repeat(500_000)],
  ['datetime', `2026-01-01T00:00:00.${'0'.repeat(1_000_000)}x`],
  ['byte', `${'A'.repeat(1_000_000)}!`],
  ['cidr', '1/'.repeat(500_000)],
  ['k8s-long-name', `${'a.'.repeat(500_000)}!`],
  ['rgbcolor', `rgb(${' '.repeat(1_000_000)}`],
])('a long text is found to be no %s in linear time', (format, text) => {
  expect(hasFormat(text, format)).toBe(false);
});

it.each(['1h30m', '1.5h', '.5s', '1.s', '-2ns', '0', '3 weeks'])('%s is a duration', (text) => {
  expect(hasFormat(text, 'duration')).toBe(true);
});
