import { mkdir } from 'node:fs/promises';
import { CommandError } from '@slipway/kube';

/** Makes a folder and those above it, for their owner only: they hold keys and tokens. What stands in the way is an error with a hint. */
export async function makeFolder(path: string, hint: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new CommandError(`cannot write to ${path}: ${reason(await plainError(path, error))}`, { hint, cause: error });
  }
}

/** From now on what this process and those it starts write is for its owner only: the folder of a cluster holds keys and tokens. */
export function writeForOwnerOnly(): void {
  process.umask(0o077);
}

/** On a read-only disk Node says that a folder made with its parents does not exist; made alone it says what is the matter. */
async function plainError(path: string, error: unknown): Promise<unknown> {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return error;
  return await mkdir(path, { mode: 0o700 }).then(
    () => error,
    (plain: unknown) => plain,
  );
}

/** The first line of an error. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message.split('\n')[0]! : String(error);
}
