import { expect, test } from 'vitest';
import { VirtualClock } from './virtual-clock.ts';

test('timers fire in the order of their time, at their time', async () => {
  const clock = new VirtualClock(0);
  const fired: string[] = [];
  clock.schedule(20, () => fired.push(`b at ${clock.now()}`));
  clock.schedule(10, () => {
    fired.push(`a at ${clock.now()}`);
    clock.schedule(5, () => fired.push(`c at ${clock.now()}`));
  });
  clock.schedule(20, () => fired.push(`d at ${clock.now()}`));
  await clock.advance(19);
  expect(fired).toEqual(['a at 10', 'c at 15']);
  expect(clock.now()).toBe(19);
  await clock.advance(1);
  expect(fired).toEqual(['a at 10', 'c at 15', 'b at 20', 'd at 20']);
});

test('a cancelled timer does not fire, not even when another one due at the same time cancels it', async () => {
  const clock = new VirtualClock(0);
  const fired: string[] = [];
  clock.schedule(10, () => {
    fired.push('first');
    second.cancel();
    second.cancel();
  });
  const second = clock.schedule(10, () => fired.push('second'));
  await clock.advance(100);
  expect(fired).toEqual(['first']);
  expect(clock.pendingTimers).toBe(0);
});

test('promises between timers settle before the next timer', async () => {
  const clock = new VirtualClock(0);
  const log: string[] = [];
  clock.schedule(
    1,
    () =>
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => log.push('promise')),
  );
  clock.schedule(2, () => log.push('timer'));
  await clock.advance(2);
  expect(log).toEqual(['promise', 'timer']);
});

test('runAll stops at its limit and says how long it took; until gives up', async () => {
  const clock = new VirtualClock(0);
  const tick = () => void clock.schedule(10, tick);
  tick();
  expect(await clock.runAll(55)).toBe(50);
  let seen = false;
  clock.schedule(7, () => (seen = true));
  await clock.until(() => seen);
  expect(clock.now()).toBe(57);
  await expect(clock.until(() => false, 100)).rejects.toThrow('did not come true within 100 ms');
});
