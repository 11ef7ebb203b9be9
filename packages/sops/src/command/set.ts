import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CommandError, defineCommand, exitCodes, type Terminal } from '@slipway/kube/command';

import { setValue } from '../sops-file.ts';
import { parseTreePath } from '../tree-path.ts';
import { configuredIndent } from './config-flag.ts';
import { explained, identitiesFor, inputTypeFlag, readSealedFile, writeBack } from './sealed-file.ts';

/** `slipway sops set`. */
export const setCommand = defineCommand({
  arguments: [
    { name: 'file', summary: 'the file', required: true },
    { name: 'path', summary: `where, such as '["users"][0]["name"]'`, required: true },
    { name: 'value', summary: 'the value, in JSON' },
  ],
  flags: {
    ...inputTypeFlag,
    'value-file': { type: 'boolean', summary: 'the value is in a file, which is named instead of it', perCall: true },
    'value-stdin': { type: 'boolean', summary: 'the value is read from standard input', perCall: true },
  },
  knownElsewhere: { '--idempotent': 'a value that is there already is never written again' },
  examples: [
    { line: `slipway sops set env/secrets.yaml '["db"]["port"]' 5432` },
    {
      line: `slipway sops set --value-stdin env/secrets.yaml '["db"]["password"]' < password.json`,
      comment: 'keeps it out of the list of processes',
    },
  ],
  async run({ terminal, args, flags }) {
    const json = await givenValue(terminal, args[2], flags);
    const file = await readSealedFile(terminal, args[0]!, flags);
    const result = await explained(file.name, async () => {
      const identities = await identitiesFor(terminal, file);
      const indent = await configuredIndent(terminal, file.format.name);
      const options = { format: file.format.name, identities, indent, clock: terminal.clock };
      return await setValue(file.content, parseTreePath(args[1]!), json, options);
    });
    await writeBack(terminal, file, result);
  },
});

async function givenValue(
  terminal: Terminal,
  value: string | undefined,
  flags: { readonly 'value-file': boolean; readonly 'value-stdin': boolean },
): Promise<string> {
  if ((value === undefined) !== flags['value-stdin'] || (flags['value-file'] && flags['value-stdin'])) {
    throw new CommandError('the value has to be given once', {
      hint: 'as an argument in JSON, as the name of a file with --value-file, or with --value-stdin',
      exitCode: exitCodes.usage,
    });
  }
  if (value === undefined) return await terminal.readInput();
  if (!flags['value-file']) return value;
  return await readFile(resolve(terminal.cwd, value), 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new CommandError(`cannot read ${value}: ${cause.code}`, { exitCode: exitCodes.usage, cause });
  });
}
