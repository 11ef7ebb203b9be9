import { expect, test } from 'vitest';

import { sleep, systemClock } from './clock.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;

test('the clock of the machine keeps the process alive for a pause that is held, and for no other', async () => {
  const before = timers();
  const stop = new AbortController();
  const pauses = [sleep(systemClock, 60_000, stop.signal)];
  expect(timers()).toBe(before);
  pauses.push(sleep(systemClock, 60_000, stop.signal, { holds: true }));
  expect(timers()).toBe(before + 1);
  stop.abort(new Error('enough'));
  expect(timers()).toBe(before);
  for (const pause of pauses) await expect(pause).rejects.toThrow('enough');
});
