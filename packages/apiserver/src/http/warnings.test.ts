import { expect, it } from 'vitest';
import { warningHeaders } from './warnings.ts';

it('quotes each text once', () => {
  expect(warningHeaders(['a "b" \\', 'ü\r\nset-cookie: x', 'a "b" \\'])).toEqual([
    '299 - "a \\"b\\" \\\\"',
    '299 - "? set-cookie: x"',
  ]);
});

it('cuts long texts and leaves out the last of many, so that clients can still read the headers', () => {
  const few = warningHeaders(['x'.repeat(4_000)]);
  expect(few[0]).toHaveLength(4_008);
  const long = warningHeaders(['x'.repeat(4_000), 'y'.repeat(1_000_000)]);
  expect(long.map((text) => text.length)).toEqual([264, 264]);
  const many = warningHeaders(Array.from({ length: 100_000 }, (_, index) => `unknown field "spec.f${index}"`));
  expect(many.join('').length).toBeLessThan(8_192);
});
