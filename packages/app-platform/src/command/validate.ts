import { resolve } from 'node:path';
import { CommandError, defineCommand, exitCodes } from '@slipway/kube';

import { loadValues } from '../values/load.ts';
import { PlatformRoot } from '../values/platform-root.ts';
import { referencePlatform } from '../values/reference-platform.ts';
import { valueAt } from '../values/tree.ts';
import { validateValues } from '../values/validate.ts';
import { ValuesError } from '../values/values-error.ts';
import { checkRepository } from './check-repository.ts';
import { directoryArgument, repositoryFolder } from './directory-argument.ts';
import { reportProblems } from './report-problems.ts';

/** `slipway platform validate`. */
export const validateCommand = defineCommand({
  arguments: directoryArgument,
  flags: {
    platform: {
      type: 'string',
      value: 'dir',
      summary: 'the platform whose schema counts; else the reference platform',
      perCall: true,
    },
  },
  examples: [{ line: 'slipway platform validate .' }],
  async run({ terminal, args, flags }) {
    const root = new PlatformRoot(
      flags.platform === undefined ? referencePlatform : resolve(terminal.cwd, flags.platform),
    );
    try {
      const directory = await repositoryFolder(terminal, args[0]!);
      const values = await loadValues(directory, { skipEncrypted: true });
      if (values.files.length === 0) {
        throw new CommandError(`${args[0]} is no values repository: there are no files below env`, {
          exitCode: exitCodes.usage,
        });
      }
      const { problems, unread } = await checkRepository(directory);
      for (const path of unread) terminal.err(`note: ${path} is not read; the values are in files of other names\n`);
      const version = valueAt(values.tree, ['versions', 'specVersion']);
      const isOlder = (await root.changes()).some((change) => Number(change['version']) > Number(version));
      if (isOlder)
        terminal.err(`note: the values are of version ${version}; the operator migrates them before it checks\n`);
      if (problems.length > 0)
        throw new ValuesError('Invalid', 'the values repository is not as it should be', problems);
      validateValues(values, await root.schema());
      terminal.out(values.files.length === 1 ? '1 file is valid\n' : `${values.files.length} files are valid\n`);
      return exitCodes.ok;
    } catch (error) {
      return reportProblems(terminal, error);
    }
  },
});
