import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { OperatorFlag, OperatorSettings } from '@slipway/runtime';
import type { Command, Option } from 'commander';
import { parse } from 'yaml';

import { CliError, exitCodes } from './cli-error.ts';

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

/** Flags that are about one call: neither the environment nor a file may give them. */
const oncePerCall: ReadonlySet<string> = new Set(['config', 'file', 'write', 'force', 'help', 'version']);
/** Options marked by {@link perCall}. */
const marked = new WeakSet<Option>();

/** Marks an option as one that only the command line may give. */
export function perCall(option: Option): Option {
  marked.add(option);
  return option;
}

/** The environment variable of a flag. */
export function environmentName(flag: { name: string; env?: string }): string {
  return flag.env ?? `SLIPWAY_${flag.name.toUpperCase().replaceAll('-', '_')}`;
}

/** Reads a YAML map of flag → value. `known` are the flags there are. */
export async function readSettingsFile(path: string, cwd: string, known: ReadonlySet<string>): Promise<SettingsFile> {
  const wrong = (message: string, cause?: unknown) =>
    new CliError(`${path}: ${message}`, {
      hint: 'the file is a map from flag names without dashes to values, such as `port: 0`',
      exitCode: exitCodes.usage,
      cause,
    });
  let content: unknown;
  try {
    content = parse(await readFile(resolve(cwd, path), 'utf8'));
  } catch (error) {
    throw wrong(error instanceof Error ? error.message.split('\n')[0]! : String(error), error);
  }
  if (content === null || content === undefined) return {};
  if (typeof content !== 'object' || Array.isArray(content)) throw wrong('is not a map');
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(content)) {
    if (!known.has(name)) throw wrong(`there is no setting '${name}'`);
    values[name] = settingText(name, value, wrong);
  }
  return values;
}

function settingText(name: string, value: unknown, wrong: (message: string) => CliError): string {
  if (name === operatorsKey && Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return value.join(',');
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw wrong(`${name} must be a text, a number or a boolean`);
}

/** The flags a file may hold: those of all commands. */
export function settableFlags(program: Command): ReadonlySet<string> {
  const names = new Set([operatorsKey]);
  for (const command of program.commands) {
    for (const option of command.options) if (isSettable(option)) names.add(flagName(option));
  }
  return names;
}

/** Whether the environment and a file may give it. */
export function isSettable(option: Option): boolean {
  return !oncePerCall.has(flagName(option)) && !marked.has(option);
}

function flagName(option: Option): string {
  return option.long!.replace(/^--/, '');
}

export interface SettingsSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file: SettingsFile;
  /** How the file is called, for people. */
  readonly fileName: string;
  readonly operatorFlags: readonly OperatorFlag[];
}

/** Gives a command the values its command line left open: environment, then file, then default. Returns what is in force. */
export function settle(command: Command, sources: SettingsSources): Setting[] {
  const settings: Setting[] = [];
  for (const option of command.options) {
    const name = flagName(option);
    const key = option.attributeName();
    const source = command.getOptionValueSource(key);
    if (isSettable(option) && source !== 'cli') {
      const variable = environmentName(sources.operatorFlags.find((flag) => flag.name === name) ?? { name });
      const found = [
        { value: sources.env[variable], from: variable },
        { value: sources.file[name], from: sources.fileName },
      ].find((candidate) => candidate.value !== undefined && candidate.value !== '');
      if (found) {
        command.setOptionValueWithSource(key, parsed(option, found.value!, found.from), 'config');
        settings.push({ name, value: found.value!, from: found.from });
        continue;
      }
    }
    const value: unknown = command.getOptionValue(key);
    if (value === undefined || name === 'config') continue;
    settings.push({
      name,
      value: String(option.negate ? value === false : value),
      from: source === 'cli' ? `--${name}` : 'default',
    });
  }
  return settings;
}

function parsed(option: Option, text: string, from: string): unknown {
  const wrong = (what: string) => new CliError(`${from}: ${what}, not '${text}'`, { exitCode: exitCodes.usage });
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
  const variable = environmentName({ name: operatorsKey });
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

/** What operators are given: their flags as text. */
export function operatorSettings(
  flags: readonly OperatorFlag[],
  values: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): OperatorSettings {
  const texts: Record<string, string | undefined> = {};
  for (const flag of flags) {
    const value = values[camel(flag.name)] ?? flag.default;
    if (value !== undefined) texts[flag.name] = String(value);
  }
  return { flags: texts, env };
}

function camel(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}
