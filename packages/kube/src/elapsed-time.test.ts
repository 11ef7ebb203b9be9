import { expect, test } from 'vitest';

import { systemClock } from './clock.ts';
import { elapsedTime } from './elapsed-time.ts';

/** A machine whose clock can be set and which can be put to sleep. */
function machine() {
  let running = 5000;
  let slept = 0;
  let set = Date.UTC(2026, 0, 1);
  let asked = 0;
  const elapsed = elapsedTime({
    running: () => running,
    wall: () => running + slept + set,
    sinceBoot: () => {
      asked += 1;
      // In steps of ten milliseconds.
      return Math.floor((70_000 + running + slept) / 10) * 10;
    },
  });
  return {
    elapsed,
    work: (ms: number) => void (running += ms),
    sleep: (ms: number) => void (slept += ms),
    setClock: (ms: number) => void (set += ms),
    get asked() {
      return asked;
    },
  };
}

test('setting the clock back and forth does not count', () => {
  const { elapsed, work, setClock } = machine();
  const start = elapsed();
  for (const jump of [3_600_000, -7_200_000, 3_600_000, 500, -500]) {
    setClock(jump);
    work(10);
    elapsed();
  }
  expect(elapsed() - start).toBe(50);
});

test('the sleep of the machine counts, once', () => {
  const { elapsed, work, sleep } = machine();
  const start = elapsed();
  sleep(60_000);
  work(7);
  expect(Math.abs(elapsed() - start - 60_007)).toBeLessThanOrEqual(10);
  expect(Math.abs(elapsed() - start - 60_007)).toBeLessThanOrEqual(10);
  sleep(30_000);
  expect(Math.abs(elapsed() - start - 90_007)).toBeLessThanOrEqual(20);
});

test('sleep is told from a clock that was set meanwhile', () => {
  const { elapsed, sleep, setClock } = machine();
  const start = elapsed();
  sleep(60_000);
  setClock(3_600_000);
  expect(Math.abs(elapsed() - start - 60_000)).toBeLessThanOrEqual(10);
});

test('as long as nothing happens the time since boot is not asked for', () => {
  const scene = machine();
  const before = scene.asked;
  for (let look = 0; look < 1000; look += 1) {
    scene.work(100);
    scene.elapsed();
  }
  expect(scene.asked).toBe(before);
});

test('it never goes back', () => {
  let last = systemClock.monotonic();
  for (let look = 0; look < 10_000; look += 1) {
    const now = systemClock.monotonic();
    expect(now).toBeGreaterThanOrEqual(last);
    last = now;
  }
});
