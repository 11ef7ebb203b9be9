import { expect, test } from 'vitest';
import { guardedClock } from './clock.ts';
import { VirtualClock } from './virtual-clock.ts';

test('a callback that throws is reported, and the next one runs', async () => {
  const clock = new VirtualClock();
  const reported: unknown[] = [];
  const guarded = guardedClock(clock, (error) => reported.push(error));
  let ran = false;
  guarded.schedule(1, () => {
    throw new Error('boom');
  });
  guarded.schedule(2, () => {
    ran = true;
  });
  guarded.schedule(3, () => expect.fail('cancelled')).cancel();
  await clock.advance(5);
  expect(ran).toBe(true);
  expect(reported).toEqual([new Error('boom')]);
});
