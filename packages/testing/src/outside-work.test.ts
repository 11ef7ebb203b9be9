import { setTimeout as wait } from 'node:timers/promises';
import type { Controller, ReconcileContext } from '@slipway/runtime';
import { expect, test } from 'vitest';

import { apartFromWork, OutsideWork } from './outside-work.ts';
import { VirtualClock } from './virtual-clock.ts';

/** How much time passes for a reconciliation that works outside of time after it has begun something. */
async function passedDuring(begin: (clock: VirtualClock) => void): Promise<number> {
  const outside = new OutsideWork();
  const clock = new VirtualClock(0, outside);
  let passed = -1;
  const reconcile = async (): Promise<undefined> => {
    begin(clock);
    await wait(20);
    passed = clock.now();
  };
  const [controller] = outside.around([{ reconcile } as unknown as Controller]);
  const running = controller!.reconcile({} as ReconcileContext, { name: 'x' });
  await clock.advance(5000);
  await running;
  return passed;
}

test('time stands still while a reconciliation works outside of it', async () => {
  expect(await passedDuring(() => undefined)).toBe(0);
});

test('time passes for a reconciliation that waits for it', async () => {
  expect(await passedDuring((clock) => void clock.schedule(1000, () => undefined))).toBeGreaterThan(0);
});

test('what a reconciliation began apart from itself lets no time pass while it works', async () => {
  const begin = (clock: VirtualClock) => apartFromWork(() => void clock.schedule(1000, () => undefined));
  expect(await passedDuring(begin)).toBe(0);
});
