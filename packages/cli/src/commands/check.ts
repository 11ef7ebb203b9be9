import { yamlText, type Style, styled, type Terminal } from '@slipway/kube';

import { findConflicts } from '../check/conflicts.ts';
import { checkDefinitions } from '../check/definitions.ts';
import type { CheckRun, Finding } from '../check/finding.ts';
import { checkPermissions } from '../check/permissions.ts';
import { checkServer } from '../check/server.ts';
import { slipwayCommand } from '../slipway-command.ts';
import { fold } from '../view/fold.ts';
import { textOutputFlag } from '../text-output.ts';

/** `slipway check`: whether the operators can be installed, run or upgraded here, and what to do where they cannot. Writes nothing. */
export const command = slipwayCommand({
  connection: true,
  takesOperators: true,
  takesOutsideOperators: true,
  flags: { output: textOutputFlag },
  examples: [
    { line: 'slipway check', comment: 'before an installation or an upgrade' },
    { line: 'slipway check operand -o json' },
  ],
  async run({ terminal, version, choice, packageFlag, connect, flags }) {
    const { operators, packageOf } = await choice();
    await using cluster = await connect();
    const run: CheckRun = {
      client: cluster.client,
      operators,
      packageFlag,
      packageOf,
      version,
      clock: terminal.clock,
      signal: terminal.signal,
    };
    const findings: Finding[] = [];
    for (const look of [checkServer, checkPermissions, checkDefinitions, findConflicts]) {
      const found = await look(run);
      findings.push(...found);
      if (flags.output === 'text') for (const finding of found) terminal.out(spoken(terminal, finding));
    }
    if (flags.output === 'json') terminal.out(`${JSON.stringify(findings, undefined, 2)}\n`);
    if (flags.output === 'yaml') terminal.out(yamlText(findings));
    const problems = findings.filter(({ verdict }) => verdict === 'problem').length;
    if (flags.output === 'text') terminal.out(`${summaryOf(problems)}\n`);
    return problems === 0 ? 0 : 1;
  },
});

const styles: Readonly<Record<Finding['verdict'], Style>> = { ok: 'green', note: 'yellow', problem: 'red' };

function spoken(terminal: Terminal, { verdict, subject, message, next }: Finding): string {
  const line = `${styled(terminal, styles[verdict], verdict.padEnd(7))}  ${subject}: ${message}`;
  const lines = [line, ...(next === undefined ? [] : [`         ${next}`])];
  const folded = terminal.interactive ? lines.flatMap((each) => fold(each, terminal.columns())) : lines;
  return folded.map((each) => `${each}\n`).join('');
}

function summaryOf(problems: number): string {
  if (problems === 0) return 'nothing stands in the way';
  return problems === 1 ? '1 problem to solve first' : `${problems} problems to solve first`;
}
