import { expect, test } from 'vitest';

import { shellWords } from './shell-words.ts';

test.each([
  ['code --wait', ['code', '--wait']],
  [`"/Program Files/ed" -x`, ['/Program Files/ed', '-x']],
  [`pass show --name="a b" 'c d'`, ['pass', 'show', '--name=a b', 'c d']],
  [String.raw`a\ b "c\"d" 'e\f'`, ['a b', 'c"d', String.raw`e\f`]],
  [`''`, ['']],
  ['  ', []],
])('%s is the words %j', (line, words) => {
  expect(shellWords(line)).toEqual(words);
});
