import { expect, test } from 'vitest';

import { VirtualClock } from './virtual-clock.ts';

test('work that needs no time is not given up because it takes many turns', async () => {
  let turns = 0;
  const step = (): void => {
    turns += 1;
    if (turns < 60) setImmediate(step);
  };
  step();
  await new VirtualClock().runUntil(() => turns === 60);
});

test('what nothing will bring is given up', async () => {
  await expect(new VirtualClock().runUntil(() => false)).rejects.toThrow('nothing left to wait for');
});
