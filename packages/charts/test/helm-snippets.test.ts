import { oracleInLane } from '@slipway/oracles';
import { expect, it } from 'vitest';
import { type Answer, askHelm, ours, shown } from './helm-probes.ts';
import { everyFunction, snippets, type Snippet } from './snippets.ts';

/** Helm's own engine answers all snippets in one process; ours must say the same, or both must fail. */
const oracle = await oracleInLane('helm-probes');
if (!oracle.available) process.stdout.write(`SKIPPED snippets against Helm's engine: ${oracle.reason}\n`);

/** The functions that no answered snippet calls. Where all fail, nothing is known but the number of arguments. */
function unanswered(answers: readonly Answer[]): string[] {
  const answered = snippets.filter((_, index) => answers[index]!.error === undefined).map(({ template }) => template);
  return everyFunction.filter((name) => {
    const called = new RegExp(`(?:{{-? |\\(|\\| |= )${name}[ )]`);
    return !answered.some((template) => called.test(template));
  });
}

/** The template is called `t` there and `NOTES.txt` here; nothing else may differ. */
function named(snippet: Snippet): boolean {
  return snippet.template.includes('.Template.Name');
}

it.runIf(oracle.available)(
  'says what Helm says to thousands of snippets, or fails where Helm fails',
  { timeout: 300_000 },
  async () => {
    const answers = askHelm(oracle.available ? oracle.path : '', snippets);
    const differences: string[] = [];
    let sameComplaint = 0;
    let failures = 0;
    for (const [index, snippet] of snippets.entries()) {
      if (named(snippet)) continue;
      const helm = answers[index]!;
      const mine = await ours(snippet);
      const bothFail = helm.error !== undefined && mine.error !== undefined;
      if (bothFail) {
        failures += 1;
        if (helm.error === mine.error) sameComplaint += 1;
      } else if (helm.error !== undefined || mine.error !== undefined || (helm.output ?? '') !== mine.output) {
        differences.push(`${snippet.template}\n  helm: ${shown(helm)}\n  ours: ${shown(mine)}`);
      }
    }
    process.stdout.write(
      `${snippets.length} snippets: ${differences.length} differ, ${failures} fail in both, ${sameComplaint} of them with the same words\n`,
    );
    expect(differences).toEqual([]);
    expect(snippets.length).toBeGreaterThan(600);
    // It calls the value of a function, of which there are none in a chart.
    expect(unanswered(answers)).toEqual(['call']);
    expect(sameComplaint / failures).toBeGreaterThan(0.98);
  },
);
