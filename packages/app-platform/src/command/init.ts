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
    const present = await readdir(target).catch(() => []);
    if (present.length > 0) {
      throw new CommandError(`${args[0]} is not empty`, {
        hint: 'choose a folder that is not there yet',
        exitCode: exitCodes.usage,
      });
    }
    await cp(referencePlatform, target, { recursive: true });
    terminal.out(`${args[0]} has a platform: charts, helmfile.d, values-schema.yaml, values/defaults.yaml\n`);
  },
});
