import { expect, test } from 'vitest';

import { wantsColours } from './run-process.ts';

test.each([
  [{}, true],
  [{ NO_COLOR: '' }, true],
  [{ NO_COLOR: '1' }, false],
  [{ TERM: 'xterm' }, true],
  [{ TERM: 'dumb' }, false],
])('%j: colours on a terminal are %j', (env, wanted) => {
  expect(wantsColours(env)).toBe(wanted);
});
