import { flags } from '../service-operator-facts.ts';

export type Flags = { -readonly [Name in keyof typeof flags]: string };

/** What Go's `flag` says of a wrong command line before it ends the program with exit code 2. */
export class CommandLineError extends Error {}

/** Reads a command line as Go's `flag` does: one or two dashes, booleans without a value, nothing it does not know. */
export function parseFlags(args: readonly string[]): Flags {
  const values = Object.fromEntries(Object.entries(flags).map(([name, fact]) => [name, fact.default])) as Flags;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]!;
    if (word === '--' || !/^--?[^-]/.test(word)) break;
    const [, name, value] = /^--?([^=]*)(?:=(.*))?$/s.exec(word)!;
    if (!Object.hasOwn(flags, name!)) throw new CommandLineError(`flag provided but not defined: -${name}`);
    const known = name as keyof Flags;
    if (flags[known].type === 'boolean') values[known] = boolean(known, value ?? 'true');
    else if (value !== undefined) values[known] = value;
    else if (at + 1 < args.length) values[known] = args[(at += 1)]!;
    else throw new CommandLineError(`flag needs an argument: -${name}`);
  }
  return values;
}

function boolean(name: string, value: string): string {
  const read = goBoolean(value);
  if (read === undefined) throw new CommandLineError(`invalid boolean value "${value}" for -${name}: parse error`);
  return String(read);
}

/** What Go reads as a truth value. */
export function goBoolean(text: string): boolean | undefined {
  if (/^(1|t|T|true|TRUE|True)$/.test(text)) return true;
  if (/^(0|f|F|false|FALSE|False)$/.test(text)) return false;
  return undefined;
}
