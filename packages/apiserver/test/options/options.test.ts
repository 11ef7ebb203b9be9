import { beforeAll, describe, expect, it } from 'vitest';
import { whyNoReference } from '../differential/targets.ts';
import { readRecorded, type Recorded } from './golden.ts';
import { accepted } from './ledger.ts';
import { places } from './places.ts';
import { embeddedServer, realServer } from './servers.ts';
import { sweep, type Outcomes } from './sweep.ts';

const live = process.env['SLIPWAY_CLUSTER'] === 'reference';
const full = process.env['SLIPWAY_SWEEP'] === 'full';
/** All of it takes a quarter of a minute here and minutes on the real server; a share has every place and every probe, not every pair. */
const share = full ? 1 : live ? 7 : 47;

if (share > 1) {
  process.stdout.write(`SKIPPED all but one in ${share} of the requests with options: SLIPWAY_SWEEP=full sends all\n`);
}

function differences(outcomes: Outcomes, expected: Recorded): { place: string; probe: string; text: string }[] {
  return Object.entries(outcomes).flatMap(([place, probes]) =>
    Object.entries(probes)
      .filter(([probe, outcome]) => outcome !== expected(place, probe))
      .map(([probe, outcome]) => ({
        place,
        probe,
        text: `${place} | ${probe}\n    real:     ${expected(place, probe)}\n    embedded: ${outcome}`,
      })),
  );
}

const isAccepted = ({ place, probe }: { place: string; probe: string }) =>
  accepted.find((entry) => entry.place.test(place) && entry.probe.test(probe));

describe('every verb at every place with every option', () => {
  let recorded: Recorded;
  let outcomes: Outcomes;
  beforeAll(async () => {
    recorded = await readRecorded();
    await using embedded = await embeddedServer();
    outcomes = await sweep(embedded, share);
  }, 300_000);

  it('has the outcome it has on the real server: code, reason, and what a later GET shows', () => {
    const unlisted = differences(outcomes, recorded).filter((difference) => !isAccepted(difference));
    expect(unlisted.map(({ text }) => text)).toEqual([]);
  });

  it('is asked at every place', () => {
    expect(Object.keys(outcomes)).toEqual(places.map(({ name }) => name));
    expect(Object.values(outcomes).every((probes) => Object.keys(probes).length > 0)).toBe(true);
  });

  it.runIf(full)('differs wherever the ledger says so', () => {
    const used = new Set(differences(outcomes, recorded).map(isAccepted));
    expect(accepted.filter((entry) => !used.has(entry))).toEqual([]);
  });

  it.runIf(live)('still has the recorded outcome on the real server', { timeout: 900_000 }, async (context) => {
    const unavailable = await whyNoReference();
    context.skip(unavailable !== undefined, `no real server: ${unavailable}`);
    await using real = await realServer();
    const stale = differences(await sweep(real, share), recorded);
    expect(stale.map(({ text }) => text)).toEqual([]);
  });
});
