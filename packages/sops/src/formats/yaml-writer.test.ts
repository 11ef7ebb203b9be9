import { expect, test } from 'vitest';

import { Mapping } from '../tree.ts';
import { writeDocuments } from './yaml-writer.ts';

test('a map below a key may have more lines than a call takes arguments', () => {
  const below = new Mapping();
  for (let index = 0; index < 150_000; index += 1) below.entries.push({ kind: 'item', key: `k${index}`, value: 1n });
  expect(writeDocuments([new Mapping().set('a', below)]).split('\n')).toHaveLength(150_002);
});
