import { expect, test } from 'vitest';

import { Mapping } from '../tree.ts';
import { writeDocuments } from './yaml-writer.ts';

test.each([
  [1, '1.0'],
  [100000.5, '100000.5'],
  [1234567.5, '1.2345675e+06'],
  [1e20, '1e+20'],
  [1e300, '1e+300'],
  [0.0001, '0.0001'],
  [0.000015, '1.5e-05'],
  [-0, '-0.0'],
])('the float %d is written %s', (value, written) => {
  expect(writeDocuments([new Mapping().set('a', value)])).toBe(`a: ${written}\n`);
});

test('a map below a key may have more lines than a call takes arguments', () => {
  const below = new Mapping();
  for (let index = 0; index < 150_000; index += 1) below.entries.push({ kind: 'item', key: `k${index}`, value: 1n });
  expect(writeDocuments([new Mapping().set('a', below)]).split('\n')).toHaveLength(150_002);
});
