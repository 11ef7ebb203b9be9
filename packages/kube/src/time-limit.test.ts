import { VirtualClock } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { timeLimit } from './time-limit.ts';

describe('a time limit', () => {
  test('aborts when time is up, and says how long it was', async () => {
    const clock = new VirtualClock();
    using limit = timeLimit(clock, 5000);
    await clock.advance(4999);
    expect([limit.signal.aborted, limit.isOver]).toEqual([false, false]);
    await clock.advance(1);
    expect([limit.signal.aborted, limit.isOver]).toEqual([true, true]);
    expect(limit.signal.reason).toEqual(new Error('no answer in 5000 ms'));
  });

  test('aborts for the reason it is given', async () => {
    const clock = new VirtualClock();
    using limit = timeLimit(clock, 1, { error: () => new RangeError('too slow') });
    await clock.advance(1);
    expect(limit.signal.reason).toEqual(new RangeError('too slow'));
  });

  test('aborts with the signal around it, which is not the end of its time', async () => {
    const clock = new VirtualClock();
    const around = new AbortController();
    using limit = timeLimit(clock, 1000, { signal: around.signal });
    around.abort(new Error('stopping'));
    await clock.advance(1000);
    expect([limit.signal.reason, limit.isOver]).toEqual([new Error('stopping'), false]);
    using late = timeLimit(clock, 1000, { signal: around.signal });
    expect(late.signal.reason).toEqual(new Error('stopping'));
  });

  test('leaves neither timer nor listener behind', async () => {
    const clock = new VirtualClock();
    const around = new AbortController();
    const limit = timeLimit(clock, 1000, { signal: around.signal });
    limit[Symbol.dispose]();
    around.abort();
    await clock.advance(1000);
    expect(limit.signal.aborted).toBe(false);
  });
});
