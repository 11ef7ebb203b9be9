import { expect, test } from 'vitest';

import { commandOptions } from './command-options.ts';

test('a flag whose name begins with no- is off until it is given, one that is on by default is typed --no-NAME', () => {
  const options = commandOptions({
    flags: {
      'no-hooks': { type: 'boolean', summary: 'run no hooks' },
      watch: { type: 'boolean', summary: 'watch', default: true },
    },
  });
  const seen = ['no-hooks', 'watch'].map((name) => {
    const option = options.get(name)!;
    return [option.long, option.negate, option.attributeName()];
  });
  expect(seen).toEqual([
    ['--no-hooks', false, 'noHooks'],
    ['--no-watch', true, 'watch'],
  ]);
});
