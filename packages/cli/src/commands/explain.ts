import { CommandError, exitCodes, styled, type Terminal } from '@slipway/kube';
import type { OperatorDescription, ReasonExplanation } from '@slipway/runtime';

import { slipwayCommand } from '../slipway-command.ts';
import { tableWidth } from '../view/status-text.ts';
import { renderTable, type Column } from '../view/table.ts';

/** `slipway explain`: what a condition reason means and what to do about it. */
export const command = slipwayCommand({
  takesOutsideOperators: true,
  arguments: [{ name: 'reason', summary: 'such as Waiting or MissingSecret (default: lists all)' }],
  examples: [{ line: 'slipway explain' }, { line: 'slipway explain Waiting' }],
  async run({ terminal, operators, choice, args: [reason] }) {
    if (reason === undefined) listReasons(terminal, (await choice()).operators);
    else explain(terminal, await operators(), reason);
  },
});

function listReasons(terminal: Terminal, operators: readonly OperatorDescription[]): void {
  const rows = operators.flatMap(({ name, reasons }) => reasons.map((row) => ({ ...row, operator: name })));
  terminal.out(`${renderTable(reasonColumns, rows, tableWidth(terminal, 'table')).join('\n')}\n`);
}

const reasonColumns: readonly Column<ReasonExplanation & { readonly operator: string }>[] = [
  { title: 'OPERATOR', text: ({ operator }) => operator },
  { title: 'KIND', text: ({ kind }) => kind },
  { title: 'REASON', text: ({ reason }) => reason },
  { title: 'MEANING', text: ({ meaning }) => meaning, flexible: true },
];

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
      hint: near.length > 0 ? `did you mean ${near.join(', ')}?` : 'slipway explain lists all reasons',
      exitCode: exitCodes.usage,
    });
  }
  for (const { operator, row } of found) {
    terminal.out(`${styled(terminal, 'bold', row.reason)}  (${row.kind}, ${operator.title})\n  ${row.meaning}\n`);
    terminal.out(row.action ? `  What to do: ${row.action}\n` : '  Nothing to do.\n');
  }
}
