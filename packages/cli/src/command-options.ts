import { type Command, CommandError, type CommandFlag, exitCodes } from '@slipway/kube/command';
import { Argument, Option } from 'commander';

import { flagValue } from './flag-values.ts';
import { keepSecret, withSources } from './settings.ts';

const connectionFlags: Readonly<Record<string, CommandFlag>> = {
  kubeconfig: {
    type: 'string',
    value: 'file',
    summary: 'kubeconfig to use (default: $KUBECONFIG, in-cluster, ~/.kube/config)',
  },
  context: { type: 'string', value: 'name', summary: 'context of the kubeconfig' },
};

const everyFlag: Readonly<Record<string, CommandFlag>> = {
  config: { type: 'string', value: 'file', summary: 'YAML file with settings (SLIPWAY_CONFIG)', perCall: true },
  verbose: { type: 'boolean', summary: 'say more, and where each setting came from' },
};

/** The flags every command has. */
export const commonFlags: ReadonlySet<string> = new Set(Object.keys(everyFlag));

/** The options of a declared command, by flag name. */
export function commandOptions(command: Pick<Command, 'flags' | 'connection'>): Map<string, Option> {
  const flags = { ...everyFlag, ...(command.connection ? connectionFlags : {}), ...command.flags };
  return new Map(Object.entries(flags).map(([name, flag]) => [name, optionOf(name, flag)]));
}

function optionOf(name: string, flag: CommandFlag): Option {
  const negated = flag.type === 'boolean' && flag.default === true;
  const bare = flag.type === 'string' ? flag.bare : undefined;
  const word = flag.type === 'boolean' ? '' : (flag.value ?? flag.type);
  const value = word === '' ? '' : bare === undefined ? ` <${word}>` : ` [${word}]`;
  const option = new Option(
    `${flag.short ? `-${flag.short}, ` : ''}--${negated ? 'no-' : ''}${name}${value}`,
    flag.summary,
  );
  // By its name alone commander would take `--no-hooks` for the opposite of a flag `hooks` that is on: no hook would ever run.
  option.negate = negated;
  if (bare !== undefined) option.preset(bare);
  const parse = flagValue(name, flag);
  if (parse) option.argParser(parse);
  if (flag.type === 'string' && flag.choices) option.choices([...flag.choices]);
  if (flag.type !== 'boolean' && flag.type !== 'duration' && flag.default !== undefined) option.default(flag.default);
  if (flag.type !== 'boolean' && flag.required) option.makeOptionMandatory();
  // A list has no text form outside the command line.
  if (flag.perCall || (flag.type === 'string' && flag.repeated)) withSources(option, { variables: [], keys: [] });
  if (flag.secret) keepSecret(option);
  return option;
}

/**
 * The words of a command line as commander has to read them. It takes what follows a flag that may have a value for the value, where
 * Helm and kubectl take only what is written after `=`; and it does not know their `--wait=true`. `deny` is told of what is `--wait=false`.
 */
export function withBareFlags(
  words: readonly string[],
  options: Iterable<Option>,
  deny: (option: Option) => void = () => undefined,
): string[] {
  const known = [...options];
  const end = words.indexOf('--');
  const found: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!;
    const [name, value] = end >= 0 && index > end ? [] : word.split(/=([^]*)/, 2);
    const option = known.find(({ long, short }) => name !== undefined && (long === name || short === name));
    if (option && value !== undefined && isSwitch(option)) {
      if (truthOf(option, value)) found.push(option.long!);
      else {
        // The last word counts.
        removeAll(found, [option.long, option.short]);
        deny(option);
      }
      continue;
    }
    found.push(option?.optional && value === undefined ? `${option.long}=${String(option.presetArg)}` : word);
    // The value of another flag, whatever it looks like.
    if (option?.required && value === undefined && index + 1 < words.length) found.push(words[(index += 1)]!);
  }
  return found;
}

/** A flag that is there or is not. */
function isSwitch({ required, optional }: Option): boolean {
  return !required && !optional;
}

function truthOf({ long }: Option, value: string): boolean {
  if (/^(1|t|true)$/i.test(value)) return true;
  if (/^(0|f|false)$/i.test(value)) return false;
  throw new CommandError(`${long} is true or false, not '${value}'`, { exitCode: exitCodes.usage });
}

function removeAll(words: string[], flags: readonly (string | undefined)[]): void {
  for (let index = words.length - 1; index >= 0; index -= 1) if (flags.includes(words[index])) words.splice(index, 1);
}

/** What the flags of a command became, by name. */
export function flagValues(
  flags: Readonly<Record<string, CommandFlag>>,
  valueOf: (name: string) => unknown,
): Record<string, never> {
  const values = Object.entries(flags).map(([name, flag]) => [name, valueOf(name) ?? absent(flag)]);
  // The declaration of each flag says what its value is.
  return Object.fromEntries(values) as Record<string, never>;
}

function absent(flag: CommandFlag): unknown {
  if (flag.type === 'boolean') return flag.default ?? false;
  return flag.type === 'string' && flag.repeated ? [] : undefined;
}

/** The arguments of a declared command. */
export function commandArguments({ arguments: declared = [] }: Pick<Command, 'arguments'>): Argument[] {
  return declared.map(({ name, summary, required, repeated, choices }) => {
    const dots = repeated ? '...' : '';
    const argument = new Argument(required ? `<${name}${dots}>` : `[${name}${dots}]`, summary ?? '');
    return choices ? argument.choices([...choices]) : argument;
  });
}

/** Lines to type, for the end of a help text. */
export function examplesText(examples: NonNullable<Command['examples']>): string {
  const width = Math.max(...examples.map(({ line }) => line.length));
  const rows = examples.map(({ line, comment }) => `  $ ${comment ? `${line.padEnd(width)}   ${comment}` : line}`);
  return `\n${examples.length === 1 ? 'Example' : 'Examples'}:\n${rows.join('\n')}`;
}
