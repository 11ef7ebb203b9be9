import { startCluster } from '@slipway/apiserver';
import { createClient, sleep, systemRandom, type Transport } from '@slipway/kube';
import { VirtualClock } from '@slipway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { silentLogger } from '../log/logger.ts';
import { LeaderElector } from './leader-elector.ts';

/** What the network does to one request: how late it arrives, and whether request or answer gets lost. */
interface Weather {
  delayMs: number;
  lost: 'nothing' | 'request' | 'answer';
}

/** A transport on which each request meets the next weather of the forecast. */
function stormy(transport: Transport, clock: VirtualClock, forecast: readonly Weather[]): Transport {
  let next = 0;
  return {
    ...transport,
    async send(request, signal) {
      const { delayMs, lost } = forecast[next++ % forecast.length]!;
      await sleep(clock, delayMs, signal);
      if (lost === 'request') throw new Error('connection lost');
      const response = await transport.send(request);
      await sleep(clock, delayMs, signal);
      if (lost === 'answer') throw new Error('connection lost');
      return response;
    },
  };
}

const weather = fc.record({
  delayMs: fc.constantFrom(0, 0, 10, 500, 4000, 12_000),
  lost: fc.constantFrom('nothing' as const, 'nothing' as const, 'request' as const, 'answer' as const),
});

test('whatever the network does, two processes never lead at a time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(weather, { minLength: 1, maxLength: 12 }), { minLength: 3, maxLength: 3 }),
      async (forecasts) => {
        const clock = new VirtualClock();
        await using cluster = await startCluster({ clock, controllers: 'none' });
        const electors = forecasts.map((forecast, index) => {
          const transport = stormy(cluster.transport, clock, forecast);
          return new LeaderElector({
            name: 'lease',
            namespace: 'default',
            identity: `process-${index}`,
            client: createClient({ transport, fieldManager: 'test', clock }),
            clock,
            random: systemRandom,
            log: silentLogger,
          });
        });
        for (const elector of electors) elector.start({ onElected: () => undefined, onLost: () => undefined });
        for (let second = 0; second < 90; second += 1) {
          await clock.advance(1000);
          expect(electors.filter(({ state }) => state === 'leading').length).toBeLessThanOrEqual(1);
        }
        const stopping = Promise.all(electors.map((elector) => elector.stop()));
        await clock.advance(60_000);
        await stopping;
        expect(electors.every(({ state }) => state === 'stopped' || state === 'lost')).toBe(true);
      },
    ),
    { numRuns: 8 },
  );
});
