import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { analyse, analyseUsual } from './write-scalar.ts';

const text = fc
  .string({ unit: fc.constantFrom(...Array.from('ab -:?#.,[]{}&*!|>\'"%@`~/\n')), minLength: 1, maxLength: 8 })
  .filter((each) => each !== '');

describe('analyseUsual', () => {
  it('finds out what looking at every character does', () => {
    fc.assert(
      fc.property(text, fc.constantFrom('v2' as const, 'v3' as const), (written, dialect) => {
        expect(analyseUsual(written)).toEqual(analyse(written, dialect));
      }),
      { numRuns: 3000 },
    );
  });
});
