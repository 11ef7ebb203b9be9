import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CommandError, exitCodes } from '@slipway/kube/command';
import type { Command, Option } from 'commander';

/** Values from a configuration file, by flag name. */
export type SettingsFile = Readonly<Record<string, string>>;

/** One setting as it is in force, and who said so. */
export interface Setting {
  readonly name: string;
  readonly value: string;
  /** `--port`, `SLIPWAY_PORT`, the file's path, or `default`. */
  readonly from: string;
}

/** The key that stands for the operators named on the command line. */
export const operatorsKey = 'operators';

/** Where a flag may come from besides the command line. */
interface OptionSources {
  /** Environment variables, the strongest first. */
  readonly variables: readonly string[];
  /** Keys of a file. */
  readonly keys: readonly string[];
}

const sourcesByOption = new WeakMap<Option, OptionSources>();

/** Says where an option may come from; without anything, only from the command line. */
export function withSources(option: Option, sources: OptionSources): Option {
  sourcesByOption.set(option, sources);
  return option;
}

const secretOptions = new WeakSet<Option>();

/** Its value stands in no list of settings. */
export function keepSecret(option: Option): void {
  secretOptions.add(option);
}

/** Where an option may come from. Default: the variable and the key of its name. */
export function sourcesOf(option: Option): OptionSources {
  const name = flagName(option);
  return sourcesByOption.get(option) ?? { variables: [environmentName(name)], keys: [name] };
}

/** The environment variable of a flag that names none itself. */
export function environmentName(flag: string): string {
  return `SLIPWAY_${flag.toUpperCase().replaceAll('-', '_')}`;
}

/** Reads a YAML map of flag → value. `unknown` picks the names that are no flag of any command. */
export async function readSettingsFile(
  path: string,
  cwd: string,
  unknown: (names: readonly string[]) => Promise<readonly string[]>,
): Promise<SettingsFile> {
  const wrong = (message: string, cause?: unknown) =>
    new CommandError(`${path}: ${message}`, {
      hint: 'the file is a map from flag names without dashes to values, such as `port: 0`',
      exitCode: exitCodes.usage,
      cause,
    });
  // Few have such a file, and the reader is large.
  const { parse } = await import('yaml');
  let content: unknown;
  try {
    content = parse(await readFile(resolve(cwd, path), 'utf8'));
  } catch (error) {
    throw wrong(error instanceof Error ? error.message.split('\n')[0]! : String(error), error);
  }
  if (content === null || content === undefined) return {};
  if (typeof content !== 'object' || Array.isArray(content)) throw wrong('is not a map');
  const [stranger] = await unknown(Object.keys(content));
  if (stranger !== undefined) throw wrong(`there is no setting '${stranger}'`);
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(content)) values[name] = settingText(name, value, wrong);
  return values;
}

function settingText(name: string, value: unknown, wrong: (message: string) => CommandError): string {
  if (name === operatorsKey && Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return value.join(',');
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw wrong(`${name} must be a text, a number or a boolean`);
}

/** The flags a file may hold: those of all commands. */
export function settableFlags(program: Command): ReadonlySet<string> {
  const names = new Set([operatorsKey]);
  for (const command of [program, ...program.commands]) {
    for (const option of command.options) for (const key of sourcesOf(option).keys) names.add(key);
    if (command !== program) for (const name of settableFlags(command)) names.add(name);
  }
  return names;
}

function flagName(option: Option): string {
  return option.long!.replace(/^--/, '');
}

export interface SettingsSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file: SettingsFile;
  /** How the file is called, for people. */
  readonly fileName: string;
}

/** Gives a command the values its command line left open: environment, then file, then default. Returns what is in force. */
export function settle(command: Command, sources: SettingsSources): Setting[] {
  const settings: Setting[] = [];
  for (const option of command.options) {
    const name = flagName(option);
    const key = option.attributeName();
    const source = command.getOptionValueSource(key);
    if (source !== 'cli') {
      const { variables, keys } = sourcesOf(option);
      const found = [
        ...variables.map((variable) => ({ value: sources.env[variable], from: variable })),
        ...keys.map((each) => ({ value: sources.file[each], from: sources.fileName })),
      ].find((candidate) => candidate.value !== undefined && candidate.value !== '');
      if (found) {
        command.setOptionValueWithSource(key, parsed(option, found.value!, found.from), 'config');
        settings.push({ name, value: shown(option, found.value!), from: found.from });
        continue;
      }
    }
    const value: unknown = command.getOptionValue(key);
    if (value === undefined || name === 'config') continue;
    settings.push({
      name,
      value: shown(option, String(option.negate ? value === false : value)),
      from: source === 'cli' ? `--${name}` : 'default',
    });
  }
  return settings;
}

function shown(option: Option, value: string): string {
  return secretOptions.has(option) ? '***' : value;
}

function parsed(option: Option, text: string, from: string): unknown {
  const wrong = (what: string) => new CommandError(`${from}: ${what}, not '${text}'`, { exitCode: exitCodes.usage });
  if (option.isBoolean() || option.negate) {
    // `no-wait: true` makes `wait` false.
    if (text === 'true' || text === '1') return !option.negate;
    if (text === 'false' || text === '0') return option.negate;
    throw wrong('must be true or false');
  }
  if (option.argChoices && !option.argChoices.includes(text))
    throw wrong(`must be one of ${option.argChoices.join(', ')}`);
  return option.parseArg ? option.parseArg(text, undefined) : text;
}

/** The operators a command works on when its command line names none. */
export function namedOperators(names: readonly string[], sources: SettingsSources): { names: string[]; from: string } {
  if (names.length > 0) return { names: [...names], from: 'command line' };
  const variable = environmentName(operatorsKey);
  const fromEnv = sources.env[variable];
  const text = fromEnv || sources.file[operatorsKey];
  if (!text) return { names: [], from: 'default' };
  return {
    names: text
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean),
    from: fromEnv ? variable : sources.fileName,
  };
}
