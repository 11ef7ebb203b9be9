import { resolve } from 'node:path';
import type { FlagValues, Terminal } from '@slipway/kube/command';
import type { GoMap } from '../go/values.ts';
import { mostValueBytes, readValuesFile, tooLarge } from '../values/read-values-file.ts';
import { collectValues } from '../values/value-options.ts';

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
  return await collectValues(
    {
      // As helm has it: several in one flag, too.
      files: flags.values.flatMap((files) => files.split(',')),
      set: flags.set,
      setString: flags['set-string'],
      setJson: flags['set-json'],
      setFile: flags['set-file'],
      setLiteral: flags['set-literal'],
    },
    async (path) => {
      if (/^https?:\/\//.test(path) && URL.canParse(path)) {
        const { readRemoteValues } = await import('./remote-values.ts');
        return await readRemoteValues(path, terminal);
      }
      if (path !== '-') return await readValuesFile(resolve(terminal.cwd, path), path);
      const text = await terminal.readInput();
      if (text.length > mostValueBytes) throw tooLarge('standard input', text.length);
      return text;
    },
  );
}
