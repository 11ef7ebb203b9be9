import { seededRandom } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { fine, type Mishap, type Plan, simulate, type Weather } from './simulation.ts';

/** `SLIPWAY_SWEEP=full` tries every moment and many more seeds; `SLIPWAY_SEED=N` tries one seed again. */
const full = process.env['SLIPWAY_SWEEP'] === 'full';
const hour = 3_600_000;

describe('two processes never write at a time, nor one again after the other', () => {
  const starts = Array.from({ length: full ? 24 : 6 }, (_, index) => 500 + index * (full ? 250 : 1000));
  const lengths = [500, 5000, 9900, 10_100, 14_000, 40_000];
  const losses: readonly { name: string; weather: Plan['weather'] }[] = [
    { name: 'nothing is lost', weather: () => fine },
    ...(full ? [0, 1, 2, 3, 4] : [1, 3]).flatMap((lostAt) =>
      (['request', 'answer'] as const).map((lost) => ({
        name: `the ${lost} number ${lostAt} of each is lost`,
        weather: (_process: number, request: number): Weather => (request === lostAt ? { delayMs: 20, lost } : fine),
      })),
    ),
    { name: 'each way takes a second', weather: () => ({ delayMs: 1000, lost: 'nothing' }) },
  ];

  test.each(losses)(
    'whenever the leader stands still, however long, however its clock is set; $name',
    async ({ weather }) => {
      for (const atMs of starts) {
        for (const frozenMs of lengths) {
          for (const setMs of [0, hour, -hour]) {
            const mishaps: Mishap[] = [{ process: 0, atMs, frozenMs, setMs }];
            const { violations, led } = await simulate({ processes: 2, seed: 1, mishaps, weather }, frozenMs + 40_000);
            const plan = { atMs, frozenMs, setMs };
            expect({ ...plan, violations, led }).toEqual({ ...plan, violations: [], led: true });
          }
        }
      }
    },
    full ? 600_000 : 60_000,
  );
});

const asked = process.env['SLIPWAY_SEED'];
const seeds = asked ? [Number(asked)] : Array.from({ length: full ? 1000 : 40 }, (_, index) => index + 1);

test(
  `three processes in any weather with any mishaps, seeds ${seeds[0]} to ${seeds.at(-1)}`,
  async () => {
    let terms = 0;
    for (const seed of seeds) {
      const random = seededRandom(seed);
      const pick = <T>(...choices: readonly T[]): T => choices[Math.floor(random.next() * choices.length)]!;
      const mishaps: Mishap[] = Array.from({ length: 4 }, () => ({
        process: pick(0, 1, 2),
        atMs: Math.floor(random.next() * 60_000),
        frozenMs: pick(100, 3000, 9990, 12_000, 20_000),
        setMs: pick(0, 0, hour, -hour),
      }));
      const weather = (): Weather => ({
        delayMs: pick(0, 10, 10, 500, 4000, 12_000),
        lost: pick('nothing', 'nothing', 'nothing', 'request', 'answer'),
      });
      const outcome = await simulate({ processes: 3, seed, mishaps, weather }, 120_000);
      expect({ seed, violations: outcome.violations }).toEqual({ seed, violations: [] });
      terms += outcome.terms.length;
    }
    // A world in which nobody ever leads has no two leaders, either.
    expect(terms).toBeGreaterThan(seeds.length);
  },
  full ? 600_000 : 60_000,
);
