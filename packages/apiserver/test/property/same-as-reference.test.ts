import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareRuns, describeDifference } from '../differential/compare.ts';
import { replay } from '../differential/replay.ts';
import { embeddedTarget, referenceTarget, whyNoReference, type RunningTarget } from '../differential/targets.ts';
import { comparable } from './comparable.ts';
import { operations } from './operations.ts';
import { setUp, stepsOf } from './sequence.ts';

const wanted = process.env['SLIPWAY_CLUSTER'] === 'reference';
const unavailable = wanted ? await whyNoReference() : 'SLIPWAY_CLUSTER is not "reference"';
if (unavailable !== undefined) {
  process.stdout.write(`SKIPPED random operations on embedded and real server: ${unavailable}\n`);
}

const group = { name: 'property', cases: [] };
const given = process.env['SLIPWAY_SEED'];
const chance = given === undefined ? randomInt(2 ** 31) : Number(given);
const runs = Number(process.env['SLIPWAY_RUNS'] ?? 15);

describe.skipIf(unavailable !== undefined)('random operations have the same effect on the real server', () => {
  let embedded: RunningTarget;
  let reference: RunningTarget;
  beforeAll(async () => {
    [embedded, reference] = await Promise.all([embeddedTarget(group), referenceTarget(group)]);
    for (const { target } of [embedded, reference]) await replay({ name: 'set up', steps: setUp }, target);
  }, 180_000);
  afterAll(async () => {
    await embedded?.[Symbol.asyncDispose]();
    await reference?.[Symbol.asyncDispose]();
  });

  // Counts on when a seed is tried again: what the first try left must not be there for the second.
  let run = 0;
  it.each([1, 2, chance])('seed %s (SLIPWAY_SEED repeats the last one)', { timeout: 600_000 }, async (seed) => {
    await fc.assert(
      fc.asyncProperty(operations, async (done) => {
        run += 1;
        const one = { name: `property ${seed} ${run}`, steps: stepsOf(done) };
        const [actual, expected] = await Promise.all([replay(one, embedded.target), replay(one, reference.target)]);
        expect(compareRuns(one.name, comparable(expected), comparable(actual)).map(describeDifference)).toEqual([]);
      }),
      { seed, numRuns: runs, interruptAfterTimeLimit: 150_000, endOnFailure: process.env['SLIPWAY_SHRINK'] !== '1' },
    );
  });
});
