import { beforeAll, describe, expect, it } from 'vitest';
import { whyNoReference } from '../differential/targets.ts';
import { embeddedServer, realServer } from '../options/servers.ts';
import { readRecorded } from './golden.ts';
import { accepted } from './ledger.ts';
import { ask, type Answer, type Answers } from './probes.ts';

const live = process.env['SLIPWAY_CLUSTER'] === 'reference';
const full = process.env['SLIPWAY_SWEEP'] === 'full';
/** All of them take half a minute here and minutes on the real server. */
const share = full ? 1 : live ? 7 : 29;

if (share > 1) {
  process.stdout.write(`SKIPPED all but one in ${share} of the wrong objects: SLIPWAY_SWEEP=full sends all\n`);
}

interface Difference {
  readonly place: string;
  readonly probe: string;
  readonly text: string;
}

function differences(answers: Answers, recorded: Answers): Difference[] {
  return Object.entries(answers).flatMap(([place, given]) =>
    Object.entries(given).flatMap(([probe, answer]) => {
      const expected = recorded[place]?.[probe];
      if (expected === undefined || told(expected) === told(answer)) return [];
      return [{ place, probe, text: `${place} | ${probe} | real ${told(expected)}, embedded ${told(answer)}` }];
    }),
  );
}

function told(answer: Answer): string {
  return typeof answer === 'number' ? String(answer) : `422 for ${answer.join(', ')}`;
}

const acceptedAs = ({ place, probe }: Difference) =>
  accepted.find((entry) => entry.place === place && entry.probe.test(probe));

describe('an object of a built-in kind with one thing wrong', () => {
  let recorded: Answers;
  let answers: Answers;
  beforeAll(async () => {
    recorded = await readRecorded();
    await using embedded = await embeddedServer();
    answers = await ask(embedded, share);
  }, 300_000);

  it('is refused for the same fields and reasons as by the real server, or taken as there', () => {
    const unlisted = differences(answers, recorded).filter((difference) => !acceptedAs(difference));
    expect(unlisted.map(({ text }) => text)).toEqual([]);
  });

  it('is one the real server was asked about', () => {
    const unasked = Object.entries(answers)
      .filter(([place, given]) => Object.keys(given).every((probe) => recorded[place]?.[probe] === undefined))
      .map(([place]) => place);
    expect(unasked).toEqual([]);
  });

  it.runIf(full)('differs wherever the ledger says so', () => {
    const used = new Set(differences(answers, recorded).map(acceptedAs));
    expect(accepted.filter((entry) => !used.has(entry))).toEqual([]);
  });

  it.runIf(live)('still has the recorded answer of the real server', { timeout: 900_000 }, async (context) => {
    const unavailable = await whyNoReference();
    context.skip(unavailable !== undefined, `no real server: ${unavailable}`);
    await using real = await realServer();
    expect(differences(await ask(real, share), recorded).map(({ text }) => text)).toEqual([]);
  });
});
