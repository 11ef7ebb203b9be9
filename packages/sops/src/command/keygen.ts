import { resolve } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { CommandError, defineCommand, exitCodes, kubeTime } from '@slipway/kube';

import { generateAgeKey } from '../keys/age-keys.ts';

/** `slipway sops keygen`. */
export const keygenCommand = defineCommand({
  flags: {
    output: {
      type: 'string',
      short: 'o',
      value: 'file',
      summary: 'write the key there; an existing file stays',
      perCall: true,
    },
  },
  examples: [{ line: 'slipway sops keygen -o key.txt', comment: 'then SOPS_AGE_KEY_FILE=key.txt' }],
  async run({ terminal, flags }) {
    const { identity, recipient } = await generateAgeKey();
    const text = `# created: ${kubeTime(terminal.clock.now())}\n# public key: ${recipient}\n${identity}\n`;
    if (flags.output === undefined) {
      terminal.out(text);
      return;
    }
    await writeFile(resolve(terminal.cwd, flags.output), text, { mode: 0o600, flag: 'wx' }).catch(
      (cause: NodeJS.ErrnoException) => {
        throw new CommandError(`cannot write ${flags.output}: ${cause.code}`, {
          hint: cause.code === 'EEXIST' ? 'a key that is lost cannot be made again; choose another name' : undefined,
          exitCode: exitCodes.usage,
          cause,
        });
      },
    );
    terminal.err(`public key: ${recipient}\n`);
  },
});
