import { expect, test } from 'vitest';
import { VirtualClock } from '../virtual-clock.ts';
import { WorkQueue } from './work-queue.ts';

test('a key that is never done lets the event loop turn, and is named and slowed down', async () => {
  const clock = new VirtualClock();
  const said: string[] = [];
  let rounds = 0;
  const queue: WorkQueue = new WorkQueue({
    name: 'Restless controller',
    clock,
    log: (message) => said.push(message),
    async process(key) {
      rounds += 1;
      queue.add(key);
    },
  });
  queue.add('n/a');
  // Without a turn of the event loop this would never return.
  await clock.settle();
  expect(rounds).toBe(1_000);
  expect(said).toEqual([
    'Restless controller: n/a does not come to rest: something undoes what is done to it; the next try is in 1 s',
  ]);
  await clock.advance(1_000);
  expect(rounds).toBe(1_001);
  await clock.advance(60_000);
  expect(rounds).toBeLessThan(1_010);
  queue.stop();
});

test('two queues that wake each other let the event loop turn too', async () => {
  const clock = new VirtualClock();
  let rounds = 0;
  const queue = (name: string, other: () => WorkQueue): WorkQueue =>
    new WorkQueue({
      name,
      clock,
      log: () => undefined,
      async process(key) {
        rounds += 1;
        other().add(key);
      },
    });
  const ping: WorkQueue = queue('ping', () => pong);
  const pong: WorkQueue = queue('pong', () => ping);
  ping.add('n/a');
  await clock.settle();
  expect(rounds).toBeLessThanOrEqual(2_000);
  ping.stop();
  pong.stop();
});

test('a slowed key does not hold up the others', async () => {
  const clock = new VirtualClock();
  const done: string[] = [];
  const queue: WorkQueue = new WorkQueue({
    name: 'q',
    clock,
    log: () => undefined,
    async process(key) {
      if (key === 'restless') queue.add(key);
      else done.push(key);
    },
  });
  queue.add('restless');
  await clock.settle();
  for (let index = 0; index < 300; index += 1) queue.add(`k${index}`);
  await clock.settle();
  expect(done).toHaveLength(300);
  queue.stop();
});

test('a key that rests in between may be worked on as often as need be', async () => {
  const clock = new VirtualClock();
  let rounds = 0;
  const queue = new WorkQueue({
    name: 'q',
    clock,
    log: (message) => expect.fail(message),
    async process() {
      rounds += 1;
    },
  });
  for (let index = 0; index < 3_000; index += 1) {
    queue.add('n/a');
    await clock.advance(20);
  }
  expect(rounds).toBe(3_000);
});
