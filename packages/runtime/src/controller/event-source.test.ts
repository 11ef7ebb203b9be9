import { type Cache, type Client, keyText, type ObjectKey } from '@slipway/kube';
import { VirtualClock } from '@slipway/testing';
import { expect, test } from 'vitest';

import { memoryLogger } from '../log/logger.ts';
import { ChannelSource, type EventSourceContext, timerSource } from './event-source.ts';

function stage() {
  const clock = new VirtualClock();
  const log = memoryLogger();
  const keys: string[] = [];
  const context: EventSourceContext = {
    clock,
    random: { next: () => 0, uuid: () => '' },
    log,
    // These sources ask no cluster.
    cluster: { name: 'main', client: {} as Client, cache: {} as Cache },
    signal: new AbortController().signal,
  };
  return { clock, log, keys, context, emit: (key: ObjectKey) => void keys.push(keyText(key)) };
}

test('a channel keeps what was pushed before the controller started', () => {
  const { keys, emit } = stage();
  const channel = new ChannelSource();
  channel.push({ name: 'early' });
  const end = channel.start(emit);
  channel.push({ namespace: 'n', name: 'late' });
  end();
  channel.push({ name: 'kept' });
  expect(keys).toEqual(['early', 'n/late']);
});

test('a timer hands out its keys at each interval, also after a failed round', async () => {
  const { clock, context, emit, keys, log } = stage();
  let round = 0;
  const source = timerSource({
    everyMs: 1000,
    keys: () => {
      round += 1;
      if (round === 2) throw new Error('not now');
      return [{ name: `round-${round}` }];
    },
  });
  const end = source.start(emit, context)!;
  await clock.advance(3000);
  end();
  await clock.advance(3000);
  expect(keys).toEqual(['round-1', 'round-3']);
  expect(log.entries.map(({ message }) => message)).toEqual(['event source failed']);
});

test('a timer without an interval is refused', () => {
  expect(() => timerSource({ everyMs: 0, keys: () => [] })).toThrow(
    "timerSource 'timer': everyMs must be above 0, not 0",
  );
});
