import { defineCommand } from '@slipway/kube/command';

import { formatNamed } from '../formats/format.ts';
import { decrypt } from '../sops-file.ts';
import { parseTreePath } from '../tree-path.ts';
import { configuredIndent } from './config-flag.ts';
import {
  convertFlags,
  explained,
  fileOrInputArgument,
  identitiesFor,
  readSealedFile,
  writeResult,
} from './sealed-file.ts';

/** `slipway sops decrypt`. */
export const decryptCommand = defineCommand({
  arguments: fileOrInputArgument,
  flags: {
    ...convertFlags,
    extract: {
      type: 'string',
      value: 'path',
      summary: `only the value at a path such as '["users"][0]["name"]'; a string comes bare`,
      perCall: true,
    },
  },
  knownElsewhere: { '--ignore-mac': 'the MAC is always checked; restore the file from its history' },
  examples: [
    { line: 'slipway sops decrypt env/secrets.yaml' },
    { line: `slipway sops decrypt --extract '["db"]["password"]' env/secrets.yaml`, comment: 'one value, bare' },
    { line: 'slipway sops decrypt --output-type json env/secrets.yaml', comment: 'for a program that reads JSON' },
    { line: 'SOPS_AGE_KEY_FILE=key.txt slipway sops decrypt -o photo.jpg photo.jpg.enc' },
  ],
  async run({ terminal, args, flags }) {
    const file = await readSealedFile(terminal, args[0], flags);
    const type = flags['output-type'];
    const result = await explained(file.name, async () => {
      const path = flags.extract === undefined ? undefined : parseTreePath(flags.extract);
      const outputFormat = (type === undefined ? file.format : formatNamed(type)).name;
      return await decrypt(file.content, {
        format: file.format.name,
        identities: await identitiesFor(terminal, file),
        outputFormat,
        indent: await configuredIndent(terminal, outputFormat),
        extract: path,
      });
    });
    await writeResult(terminal, file, result, flags);
  },
});
