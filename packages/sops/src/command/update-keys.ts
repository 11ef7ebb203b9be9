import { CommandError, defineCommand, exitCodes } from '@slipway/kube/command';

import { creationRuleFor } from '../config-file.ts';
import { describe, updateKeys } from '../sops-file.ts';
import { configFile, configFlag, configuredIndent } from './config-flag.ts';
import { explained, fileArgument, identitiesFor, inputTypeFlag, readSealedFile, writeBack } from './sealed-file.ts';

/** `slipway sops updatekeys`. */
export const updateKeysCommand = defineCommand({
  arguments: fileArgument,
  flags: {
    ...inputTypeFlag,
    ...configFlag,
    yes: { type: 'boolean', short: 'y', summary: 'do it; without this the changes are only shown', perCall: true },
  },
  examples: [
    { line: 'slipway sops updatekeys env/secrets.yaml', comment: 'shows what would change' },
    { line: 'slipway sops updatekeys -y env/secrets.yaml', comment: 'after .sops.yaml got a new recipient' },
  ],
  async run({ terminal, args, flags }) {
    const file = await readSealedFile(terminal, args[0]!, flags);
    const format = file.format.name;
    const config = await configFile(terminal, flags['sops-config']);
    const { wanted, present } = await explained(file.name, async () => ({
      wanted: config === undefined ? undefined : (await creationRuleFor(file.path, config))?.recipients,
      present: describe(file.content, format).age.map((key) => key.recipient),
    }));
    if (wanted === undefined) {
      throw new CommandError('there is no creation rule to take the recipients from', {
        hint: 'write a .sops.yaml, or use rotate with --add-age and --rm-age',
        exitCode: exitCodes.usage,
      });
    }
    const added = wanted.filter((recipient) => !present.includes(recipient));
    const removed = present.filter((recipient) => !wanted.includes(recipient));
    if (added.length === 0 && removed.length === 0) {
      terminal.err(`${file.name}: up to date\n`);
      return;
    }
    terminal.out([...added.map((each) => `+ ${each}\n`), ...removed.map((each) => `- ${each}\n`)].join(''));
    if (!flags.yes) {
      terminal.err(`${file.name}: nothing was written; add --yes to do it\n`);
      return;
    }
    const result = await explained(file.name, async () => {
      const identities = await identitiesFor(terminal, file);
      const indent = await configuredIndent(terminal, format, flags);
      return await updateKeys(file.content, { format, identities, indent, recipients: wanted });
    });
    await writeBack(terminal, file, result);
    if (removed.length > 0)
      terminal.err('who was removed may know the data key: slipway sops rotate makes a new one\n');
  },
});
