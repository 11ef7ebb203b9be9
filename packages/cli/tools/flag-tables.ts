import { systemClock, systemRandom } from '@slipway/kube';
import type { OperatorDescription, OperatorFlag } from '@slipway/runtime';
import type { Option } from 'commander';

import { commandLine } from '../src/program.ts';
import { environmentName, isSettable } from '../src/settings.ts';

export const beginMark = '<!-- flags: written by `node packages/cli/tools/write-flags.ts` -->';
export const endMark = '<!-- /flags -->';

/** Every flag of every command as Markdown, for `docs/cli.md`. */
export function flagTables(operators: readonly OperatorDescription[]): string {
  const program = commandLine({
    terminal: {
      out: () => undefined,
      err: () => undefined,
      interactive: false,
      colours: false,
      columns: () => 80,
      rows: () => 24,
      env: {},
      cwd: '/',
      clock: systemClock,
      random: systemRandom,
      signal: new AbortController().signal,
    },
    operators,
    version: 'VERSION',
  });
  const ofOperators = new Map<string, { operator: OperatorDescription; flag: OperatorFlag }>(
    operators.flatMap((operator) =>
      (operator.flags ?? []).map((flag) => [`--${flag.name}`, { operator, flag }] as const),
    ),
  );
  const variable = (option: Option) => {
    const flag = ofOperators.get(option.long!)?.flag ?? { name: option.long!.slice(2) };
    return isSettable(option) ? `\`${environmentName(flag)}\`` : '';
  };
  const rows = (options: readonly Option[]) =>
    options.map((option) => `| \`${option.flags}\` | ${variable(option)} | ${cell(described(option))} |`);
  const table = (options: readonly Option[]) => ['| flag | variable | |', '|---|---|---|', ...rows(options)].join('\n');

  const common = new Set(['--config', '--verbose']);
  const shared = program.commands[0]!.options.filter((option) => common.has(option.long!));
  const parts = ['### every command', table(shared)];
  const byTable = new Map<string, string[]>();
  for (const command of program.commands) {
    const own = command.options.filter((option) => !common.has(option.long!) && !ofOperators.has(option.long!));
    if (own.length > 0) byTable.set(table(own), [...(byTable.get(table(own)) ?? []), command.name()]);
  }
  for (const [text, names] of byTable) parts.push(`### ${names.join(', ')}`, text);
  const running = program.commands.find((command) => command.name() === 'run')!;
  for (const operator of operators) {
    const own = running.options.filter((option) => ofOperators.get(option.long!)?.operator === operator);
    if (own.length > 0) parts.push(`### up, run: flags of ${operator.name}`, table(own));
  }
  return parts.join('\n\n');
}

/** A description without the variable, which has a column of its own. */
function described(option: Option): string {
  const choices = option.argChoices ? `: ${option.argChoices.join(', ')}` : '';
  const fallback =
    option.defaultValue === undefined || option.negate ? '' : ` (default: ${String(option.defaultValue)})`;
  return `${option.description.replace(/ \(([A-Z][A-Z0-9_]+)(?:, (default: [^)]*))?\)$/, (_all, _name, given?: string) => (given ? ` (${given})` : ''))}${choices}${fallback}`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

/** The page with its tables written anew. */
export function withFlagTables(page: string, operators: readonly OperatorDescription[]): string {
  const begin = page.indexOf(beginMark);
  const end = page.indexOf(endMark);
  if (begin < 0 || end < begin) throw new Error(`the page has no ${beginMark} … ${endMark}`);
  return `${page.slice(0, begin + beginMark.length)}\n\n${flagTables(operators)}\n\n${page.slice(end)}`;
}
