import { VirtualClock } from '@slipway/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { exponentialBackoff, overallRate, slowestOf } from './rate-limiter.ts';
import { lowPriority, type QueueItem, type QueueMetrics, WorkQueue } from './work-queue.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

async function takeNow(queue: WorkQueue): Promise<QueueItem | undefined> {
  let taken: QueueItem | undefined;
  let answered = false;
  void queue.take().then((item) => {
    taken = item;
    answered = true;
  });
  await settle();
  if (!answered) throw new Error('the queue had nothing to hand out');
  return taken;
}

async function drainKeys(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth > 0) {
    const item = (await takeNow(queue))!;
    keys.push(item.key);
    queue.done(item);
  }
  return keys;
}

describe('WorkQueue', () => {
  test('a key added twice is handed out once', async () => {
    const queue = new WorkQueue({ clock: new VirtualClock() });
    queue.add('a');
    queue.add('a');
    expect(await drainKeys(queue)).toEqual(['a']);
  });

  test('a key added while a worker has it comes back after done, not before', async () => {
    const queue = new WorkQueue({ clock: new VirtualClock() });
    queue.add('a');
    const first = (await takeNow(queue))!;
    queue.add('a');
    let second: QueueItem | undefined;
    void queue.take().then((item) => (second = item));
    await settle();
    expect(second).toBeUndefined();
    queue.done(first);
    await settle();
    expect(second?.key).toBe('a');
  });

  test('adds of one batch are handed out by priority, then in order of arrival', async () => {
    const queue = new WorkQueue({ clock: new VirtualClock() });
    const first = queue.take();
    queue.add('low', { priority: lowPriority });
    queue.add('b');
    queue.add('a');
    queue.add('high', { priority: 10 });
    const item = (await first)!;
    expect(item.key).toBe('high');
    queue.done(item);
    expect(await drainKeys(queue)).toEqual(['b', 'a', 'low']);
  });

  test('re-adding at a higher priority goes to the back of that priority', async () => {
    const clock = new VirtualClock();
    const queue = new WorkQueue({ clock });
    queue.add('listed', { priority: lowPriority });
    queue.add('fresh');
    queue.add('listed');
    queue.add('later');
    expect(await drainKeys(queue)).toEqual(['fresh', 'listed', 'later']);
  });

  test('a delayed key is handed out when its time comes, on a single timer', async () => {
    const clock = new VirtualClock();
    let timers = 0;
    const counting = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      schedule(delayMs: number, callback: () => void) {
        timers += 1;
        const timer = clock.schedule(delayMs, () => {
          timers -= 1;
          callback();
        });
        let live = true;
        return {
          cancel() {
            if (live) timers -= 1;
            live = false;
            timer.cancel();
          },
        };
      },
    };
    const queue = new WorkQueue({ clock: counting });
    for (let index = 0; index < 1000; index += 1) queue.add(`key-${index}`, { afterMs: 1000 - index });
    expect(timers).toBe(1);
    expect(queue.depth).toBe(0);
    await clock.advance(500);
    expect(queue.depth).toBe(500);
    expect(timers).toBe(1);
    await clock.advance(500);
    expect(queue.depth).toBe(1000);
    expect(timers).toBe(0);
  });

  test('the earlier of two due times wins', async () => {
    const clock = new VirtualClock();
    const queue = new WorkQueue({ clock });
    queue.add('a', { afterMs: 1000 });
    queue.add('a', { afterMs: 10 });
    queue.add('a', { afterMs: 5000 });
    await clock.advance(10);
    expect(await drainKeys(queue)).toEqual(['a']);
    await clock.advance(10_000);
    expect(queue.depth).toBe(0);
  });

  test('failures wait 5 ms, then twice as long each time, until forgotten', async () => {
    const clock = new VirtualClock();
    const queue = new WorkQueue({ clock });
    for (const delayMs of [5, 10, 20, 40]) {
      queue.addRateLimited('a');
      await clock.advance(delayMs - 1);
      expect(queue.depth).toBe(0);
      await clock.advance(1);
      expect(await drainKeys(queue)).toEqual(['a']);
    }
    expect(queue.failures('a')).toBe(4);
    queue.forget('a');
    queue.addRateLimited('a');
    await clock.advance(5);
    expect(queue.depth).toBe(1);
  });

  test('the wait never exceeds 1000 s', () => {
    const backoff = exponentialBackoff();
    let last = 0;
    for (let index = 0; index < 2000; index += 1) last = backoff.delayMs('a');
    expect(last).toBe(1_000_000);
  });

  test('all keys together are slowed down once the burst is used up', () => {
    const clock = new VirtualClock();
    const limiter = slowestOf(exponentialBackoff(), overallRate({ clock, perSecond: 10, burst: 2 }));
    expect([limiter.delayMs('a'), limiter.delayMs('b'), limiter.delayMs('c'), limiter.delayMs('d')]).toEqual([
      5, 5, 100, 200,
    ]);
  });

  test('draining hands out what is ready, drops what is delayed and refuses new keys', async () => {
    const clock = new VirtualClock();
    const queue = new WorkQueue({ clock });
    queue.add('ready');
    queue.add('delayed', { afterMs: 10 });
    queue.shutDown();
    queue.add('new');
    const item = (await takeNow(queue))!;
    expect(item.key).toBe('ready');
    const next = queue.take();
    queue.done(item);
    expect(await next).toBeUndefined();
    await queue.idle();
    await clock.advance(100);
    expect(await takeNow(queue)).toBeUndefined();
  });

  test('without draining, waiting workers are sent home and ready keys are forgotten', async () => {
    const queue = new WorkQueue({ clock: new VirtualClock() });
    queue.add('ready');
    queue.shutDown({ drain: false });
    expect(await takeNow(queue)).toBeUndefined();
    expect(queue.depth).toBe(0);
  });

  test('idle waits for running workers', async () => {
    const queue = new WorkQueue({ clock: new VirtualClock() });
    queue.add('a');
    const item = (await takeNow(queue))!;
    let idle = false;
    void queue.idle().then(() => (idle = true));
    await settle();
    expect(idle).toBe(false);
    queue.done(item);
    await settle();
    expect(idle).toBe(true);
  });

  test('metrics balance: what became ready was taken, depth returns to zero', async () => {
    const clock = new VirtualClock();
    const depth = new Map<number, number>();
    const waits: number[] = [];
    const works: number[] = [];
    const metrics: QueueMetrics = {
      depth: (priority, change) => void depth.set(priority, (depth.get(priority) ?? 0) + change),
      added: () => undefined,
      retried: () => undefined,
      taken: (waitedMs) => void waits.push(waitedMs),
      finished: (workedMs) => void works.push(workedMs),
    };
    const queue = new WorkQueue({ clock, metrics });
    queue.add('a', { priority: lowPriority });
    expect(depth.get(lowPriority)).toBe(1);
    queue.add('a');
    expect(Object.fromEntries(depth)).toEqual({ [lowPriority]: 0, 0: 1 });
    await clock.advance(70);
    const item = (await takeNow(queue))!;
    await clock.advance(30);
    expect(queue.unfinishedWorkMs()).toBe(30);
    expect(queue.longestRunningMs()).toBe(30);
    queue.done(item);
    expect(depth.get(0)).toBe(0);
    expect(waits).toEqual([70]);
    expect(works).toEqual([30]);
  });
});

describe('WorkQueue, for any sequence of calls', () => {
  const step = fc.oneof(
    fc.record({
      do: fc.constant('add' as const),
      key: fc.integer({ min: 0, max: 4 }).map(String),
      priority: fc.constantFrom(lowPriority, 0, 10),
      afterMs: fc.constantFrom(0, 0, 5, 50),
    }),
    fc.record({ do: fc.constant('take' as const) }),
    fc.record({ do: fc.constant('done' as const), which: fc.nat(10) }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 5, 100) }),
  );

  test('no key is with two workers, nothing is lost, earliest due time and highest priority win', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const clock = new VirtualClock();
        const queue = new WorkQueue({ clock });
        const wanted = new Map<string, { dueAt: number; priority: number }>();
        const running: QueueItem[] = [];
        let idleWorkers = 0;
        const onTake = (item: QueueItem | undefined): void => {
          if (!item) return;
          idleWorkers -= 1;
          expect(running.some((other) => other.key === item.key)).toBe(false);
          const want = wanted.get(item.key);
          expect(want).toBeDefined();
          expect(clock.now()).toBeGreaterThanOrEqual(want!.dueAt);
          expect(item.priority).toBe(want!.priority);
          wanted.delete(item.key);
          running.push(item);
        };
        for (const action of steps) {
          if (action.do === 'add') {
            const dueAt = clock.now() + action.afterMs;
            const known = wanted.get(action.key);
            wanted.set(action.key, {
              dueAt: Math.min(dueAt, known?.dueAt ?? Infinity),
              priority: Math.max(action.priority, known?.priority ?? -Infinity),
            });
            queue.add(action.key, action);
          } else if (action.do === 'take') {
            idleWorkers += 1;
            void queue.take().then(onTake);
          } else if (action.do === 'done' && running.length > 0) {
            const [item] = running.splice(action.which % running.length, 1);
            queue.done(item!);
          } else if (action.do === 'wait') {
            await clock.advance(action.ms);
          }
          await Promise.resolve();
          await Promise.resolve();
          await Promise.resolve();
          // An idle worker means that nothing was ready that is not in other hands.
          if (idleWorkers > 0) {
            for (const [key, want] of wanted) {
              const due = want.dueAt <= clock.now();
              expect(due && !running.some((item) => item.key === key)).toBe(false);
            }
          }
        }
        for (const item of running.splice(0)) queue.done(item);
        for (let guard = 0; wanted.size > 0 && guard < 200; guard += 1) {
          idleWorkers += 1;
          void queue.take().then(onTake);
          await clock.advance(50);
          for (const item of running.splice(0)) queue.done(item);
        }
        expect(wanted.size).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  test('ageing: a low key waits at most its distance in points times the ageing step, however many fresh keys arrive', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 5, max: 30 }), async (ageing, serviceMs) => {
        const clock = new VirtualClock();
        const queue = new WorkQueue({ clock, ageingMsPerPoint: ageing });
        queue.add('old', { priority: lowPriority });
        const start = clock.now();
        const bound = -lowPriority * ageing;
        let servedAt: number | undefined;
        for (let round = 0; servedAt === undefined && round < 6000; round += 1) {
          queue.add(`fresh-${round}`);
          const item = (await queue.take())!;
          if (item.key === 'old') servedAt = clock.now();
          await clock.advance(serviceMs);
          queue.done(item);
        }
        expect(servedAt).toBeDefined();
        expect(servedAt! - start).toBeLessThanOrEqual(bound + 2 * serviceMs);
      }),
      { numRuns: 20 },
    );
  });
});
