import { resolve } from 'node:path';
import { CommandError, exitCodes, type FlagValues, type Terminal } from '@slipway/kube/command';

import { ChartError } from '../chart/chart-error.ts';
import type { GoMap } from '../go/values.ts';
import { mostValueBytes, readValuesFile, tooLarge } from '../values/read-values-file.ts';
import { collectValues, type ValueSources } from '../values/value-options.ts';

/** Helm's flags for values, shared by every command that takes some. */
export const valueFlags = {
  values: {
    type: 'string',
    short: 'f',
    repeated: true,
    value: 'file',
    summary: 'values in YAML files, or at https://… (- reads standard input)',
    perCall: true,
  },
  set: {
    type: 'string',
    repeated: true,
    value: 'key=value',
    summary: 'values on the command line: a.b=1,c[0]=x',
    perCall: true,
  },
  'set-string': {
    type: 'string',
    repeated: true,
    value: 'key=value',
    summary: 'the same, everything is text',
    perCall: true,
  },
  'set-json': {
    type: 'string',
    repeated: true,
    value: 'key=json',
    summary: 'the same, values are JSON',
    perCall: true,
  },
  'set-file': {
    type: 'string',
    repeated: true,
    value: 'key=file',
    summary: 'the same, values are files',
    perCall: true,
  },
  'set-literal': {
    type: 'string',
    repeated: true,
    value: 'key=text',
    summary: 'one value, taken as it stands',
    perCall: true,
  },
} as const;

/** The values these flags name. */
export async function readValueFlags(flags: FlagValues<typeof valueFlags>, terminal: Terminal): Promise<GoMap> {
  const sources = {
    // As helm has it: several in one flag, too.
    files: flags.values.flatMap((files) => files.split(',')),
    set: flags.set,
    setString: flags['set-string'],
    setJson: flags['set-json'],
    setFile: flags['set-file'],
    setLiteral: flags['set-literal'],
  };
  return await givenValues(sources, async (path) => await readInput(path, terminal));
}

/** Values of a command line: what is wrong with them is wrong usage. */
export async function givenValues(sources: ValueSources, read: (path: string) => Promise<string>): Promise<GoMap> {
  try {
    return await collectValues(sources, read);
  } catch (error) {
    if (!(error instanceof ChartError)) throw error;
    throw new CommandError(error.message, { hint: error.hint, exitCode: exitCodes.usage, cause: error });
  }
}

async function readInput(path: string, terminal: Terminal): Promise<string> {
  if (/^https?:\/\//.test(path) && URL.canParse(path)) {
    const { readRemoteValues } = await import('./remote-values.ts');
    return await readRemoteValues(path, terminal);
  }
  if (path !== '-') return await readValuesFile(resolve(terminal.cwd, path), path);
  const text = await terminal.readInput();
  if (text.length > mostValueBytes) throw tooLarge('standard input', text.length);
  return text;
}
