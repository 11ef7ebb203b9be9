import { CommandError, exitCodes, styled, type Terminal } from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';

import { slipwayCommand } from '../slipway-command.ts';

/** `slipway explain`: what a condition reason means and what to do about it. */
export const command = slipwayCommand({
  takesOutsideOperators: true,
  arguments: [{ name: 'reason', summary: 'such as Waiting or MissingSecret', required: true }],
  examples: [{ line: 'slipway explain Waiting' }],
  async run({ terminal, operators, args: [reason = ''] }) {
    explain(terminal, await operators(), reason);
  },
});

function explain(terminal: Terminal, operators: readonly OperatorDescription[], reason: string): void {
  const found = operators.flatMap((operator) =>
    operator.reasons
      .filter((row) => row.reason.toLowerCase() === reason.toLowerCase())
      .map((row) => ({ operator, row })),
  );
  if (found.length === 0) {
    const near = [...new Set(operators.flatMap((operator) => operator.reasons.map((row) => row.reason)))].filter(
      (name) => name.toLowerCase().includes(reason.toLowerCase().slice(0, 4)),
    );
    throw new CommandError(`no operator gives the reason '${reason}'`, {
      hint:
        near.length > 0
          ? `did you mean ${near.join(', ')}?`
          : 'reasons stand in the REASON column of kubectl get and in status.conditions',
      exitCode: exitCodes.usage,
    });
  }
  for (const { operator, row } of found) {
    terminal.out(`${styled(terminal, 'bold', row.reason)}  (${row.kind}, ${operator.title})\n  ${row.meaning}\n`);
    terminal.out(row.action ? `  What to do: ${row.action}\n` : '  Nothing to do.\n');
  }
}
