import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CommandError, exitCodes, type Terminal } from '@slipway/kube';

export const directoryArgument = [{ name: 'dir', summary: 'its folder', required: true }] as const;

/** The folder of a values repository that a command was given, if it is one. */
export async function repositoryFolder({ cwd }: Pick<Terminal, 'cwd'>, given: string): Promise<string> {
  const directory = resolve(cwd, given);
  const is = async (...parts: readonly string[]) =>
    (await stat(resolve(directory, ...parts)).catch(() => undefined)) !== undefined;
  const refuse = (message: string, hint: string): never => {
    throw new CommandError(message, { hint, exitCode: exitCodes.usage });
  };
  if (!(await is())) refuse(`there is no folder ${given}`, 'name the folder of a clone of the values repository');
  if (await is('env')) return directory;
  if (await is('values-schema.yaml'))
    refuse(
      `${given} is a platform, not a values repository`,
      `name a clone of the values repository, and the platform with --platform ${given}`,
    );
  return refuse(
    `${given} is no values repository: it has no folder env`,
    'name the folder of a clone of the values repository',
  );
}
