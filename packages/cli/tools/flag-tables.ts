import { systemClock, systemRandom } from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';
import type { Command, Option } from 'commander';

import { commonFlags } from '../src/command-options.ts';
import { findCommands, findOperators } from '../src/packages.ts';
import { commandLine } from '../src/program.ts';
import { sourcesOf } from '../src/settings.ts';

export const beginMark = '<!-- flags: written by `node packages/cli/tools/write-flags.ts` -->';
export const endMark = '<!-- /flags -->';

/** Every flag of every command as Markdown, for `docs/cli.md`. */
async function flagTables(): Promise<string> {
  const operators = await findOperators();
  const program = await commandLine({
    terminal: {
      out: () => undefined,
      err: () => undefined,
      readInput: async () => '',
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
    commands: await findCommands(),
    operators: async () => operators,
    version: 'VERSION',
  });
  const parts = ['### every command', table(program.commands[0]!.options.filter(isCommon))];
  const byTable = new Map<string, string[]>();
  const addTable = (name: string, options: readonly Option[]): void => {
    if (options.length > 0) byTable.set(table(options), [...(byTable.get(table(options)) ?? []), name]);
  };
  for (const { path, command } of leaves(program))
    addTable(
      path,
      command.options.filter((option) => !isCommon(option) && !ownerOf(option, operators)),
    );
  for (const [text, names] of byTable) parts.push(`### ${names.join(', ')}`, text);
  byTable.clear();
  for (const { path, command } of leaves(program))
    for (const operator of operators)
      addTable(
        `${path}: flags of ${operator.name}`,
        command.options.filter((option) => ownerOf(option, operators) === operator),
      );
  for (const [text, names] of byTable) {
    const [, owner] = names[0]!.split(': ');
    parts.push(`### ${names.map((name) => name.split(': ')[0]).join(', ')}: ${owner}`, text);
  }
  return parts.join('\n\n');
}

/** Every command that does something, with the words that call it. */
function leaves(parent: Command, path = ''): { path: string; command: Command }[] {
  return parent.commands.flatMap((command) => {
    const words = path === '' ? command.name() : `${path} ${command.name()}`;
    return command.commands.length > 0 ? leaves(command, words) : [{ path: words, command }];
  });
}

function isCommon(option: Option): boolean {
  return commonFlags.has(option.long!.slice(2));
}

/** The operator whose flag it is: only those have two long names, or begin with the name of an operator. */
function ownerOf(option: Option, operators: readonly OperatorDescription[]): OperatorDescription | undefined {
  return operators.find((operator) =>
    [...(operator.flags ?? []), ...(operator.permissionVariants ?? [])].some(
      (flag) => option.long === `--${operator.name}-${flag.name}`,
    ),
  );
}

function table(options: readonly Option[]): string {
  const rows = options.map((option) => {
    // The one that is documented: the most particular comes first.
    const variable = sourcesOf(option).variables.at(-1);
    return `| \`${option.flags}\` | ${variable === undefined ? '' : `\`${variable}\``} | ${cell(described(option))} |`;
  });
  return ['| flag | variable | |', '|---|---|---|', ...rows].join('\n');
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
export async function withFlagTables(page: string): Promise<string> {
  const begin = page.indexOf(beginMark);
  const end = page.indexOf(endMark);
  if (begin < 0 || end < begin) throw new Error(`the page has no ${beginMark} … ${endMark}`);
  return `${page.slice(0, begin + beginMark.length)}\n\n${await flagTables()}\n\n${page.slice(end)}`;
}
