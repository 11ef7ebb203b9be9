import { cp, readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CommandError, defineCommand, exitCodes } from '@slipway/kube';

import { referencePlatform } from '../values/reference-platform.ts';
import { directoryArgument } from './directory-argument.ts';

/** `slipway platform init`. */
export const initCommand = defineCommand({
  arguments: directoryArgument,
  examples: [
    { line: 'slipway platform init my-platform', comment: 'then slipway run app-platform --platform-root my-platform' },
  ],
  async run({ terminal, args }) {
    const target = resolve(terminal.cwd, args[0]!);
    const present = await readdir(target).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw unusable(args[0]!, error);
    });
    if (present.length > 0) {
      throw new CommandError(`${args[0]} is not empty`, {
        hint: 'choose a folder that is not there yet',
        exitCode: exitCodes.usage,
      });
    }
    await cp(referencePlatform, target, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
      throw unusable(args[0]!, error);
    });
    terminal.out(`${args[0]} has a platform: charts, helmfile.d, values-schema.yaml, values/defaults.yaml\n`);
  },
});

function unusable(folder: string, cause: NodeJS.ErrnoException): CommandError {
  return new CommandError(`${folder} cannot be written (${cause.code})`, {
    hint: 'choose a folder that is not there yet, where you may write',
    exitCode: exitCodes.usage,
    cause,
  });
}
