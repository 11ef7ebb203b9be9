import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareRuns, describeDifference, type Difference } from './compare.ts';
import { readGolden, type Golden } from './goldens.ts';
import { groups } from './groups.ts';
import { isAccepted, ledger } from './ledger.ts';
import { replayGroup } from './run-group.ts';
import { embeddedTarget, referenceTarget, whyNoReference } from './targets.ts';

const live = process.env['SLIPWAY_CLUSTER'] === 'reference';

/**
 * Compares the embedded server with the real one: with its recorded answers, or with itself in the reference lane. A
 * difference has to stand in the ledger, and what stands in the ledger has to differ.
 */
export function differentialTests(name: string): void {
  const group = groups.find((one) => one.name === name);
  if (!group) throw new Error(`no group of cases is called ${name}`);
  describe(`${name} as the real server`, () => {
    let expected: Golden;
    let recorded: Golden;
    let actual: Golden;
    const used = new Set<object>();
    beforeAll(async () => {
      recorded = await readGolden(name);
      expected = recorded;
      const unavailable = live ? await whyNoReference() : undefined;
      if (live && unavailable !== undefined) {
        process.stdout.write(`SKIPPED live comparison of ${name}, recorded answers are used: ${unavailable}\n`);
      } else if (live) {
        await using reference = await referenceTarget(group);
        expected = await replayGroup(group, reference.target);
      }
      await using embedded = await embeddedTarget(group);
      actual = await replayGroup(group, embedded.target);
    }, 180_000);
    afterAll(() => {
      expected = {};
      actual = {};
    });

    it.each(group.cases.map((one) => one.name))('%s', (caseName) => {
      const unlisted: Difference[] = [];
      for (const difference of compareRuns(caseName, expected[caseName] ?? [], actual[caseName] ?? [])) {
        const entry = ledger.find((one) => isAccepted(one, difference));
        if (entry) used.add(entry);
        else unlisted.push(difference);
      }
      expect(unlisted.map(describeDifference)).toEqual([]);
    });

    it('what the ledger accepts still differs', () => {
      const names = new Set(group.cases.map((one) => one.name));
      expect(ledger.filter((entry) => names.has(entry.case) && !used.has(entry))).toEqual([]);
    });

    it('the recorded answers are those of the cases', () => {
      expect(Object.keys(recorded)).toEqual(group.cases.map((one) => one.name));
    });

    it.runIf(live)('the recorded answers are still given', () => {
      const stale = group.cases.flatMap((one) =>
        compareRuns(one.name, recorded[one.name] ?? [], expected[one.name] ?? []),
      );
      expect(stale.map((difference) => `${difference.case}: ${describeDifference(difference)}`)).toEqual([]);
    });
  });
}
