import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { shellPattern } from './shell-pattern.ts';

const pattern = fc.array(fc.constantFrom('a', 'b', '/', '*', '?', '.', '[ab]', String.raw`\*`), { maxLength: 6 });
const path = fc.array(fc.constantFrom('a', 'b', '/', '.', '*', 'é'), { maxLength: 8 });

describe('shellPattern', () => {
  it('matches as a regular expression for the same does, whether the pattern is a simple one or not', () => {
    const meaning: Readonly<Record<string, string>> = { '*': '[^/]*', '?': '[^/]', '.': String.raw`\.` };
    fc.assert(
      fc.property(pattern, path, (pieces, characters) => {
        const expression = new RegExp(`^${pieces.map((piece) => meaning[piece] ?? piece).join('')}$`, 'su');
        const text = characters.join('');
        expect(shellPattern(pieces.join(''))!(text)).toBe(expression.test(text));
      }),
      { numRuns: 3000 },
    );
  });
});
