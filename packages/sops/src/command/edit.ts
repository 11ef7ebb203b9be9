import { spawn } from 'node:child_process';
import { access, constants, readFile } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { CommandError, defineCommand, exitCodes, type Terminal } from '@slipway/kube/command';

import { shellWords } from '../keys/shell-words.ts';
import { SopsError } from '../sops-error.ts';
import { decrypt, edit } from '../sops-file.ts';
import { withClearCopy } from './clear-copy.ts';
import { explained, fileArgument, identitiesFor, inputTypeFlag, readSealedFile, writeBack } from './sealed-file.ts';

/** `slipway sops edit`. */
export const editCommand = defineCommand({
  arguments: fileArgument,
  flags: inputTypeFlag,
  examples: [{ line: 'slipway sops edit env/secrets.yaml', comment: 'in $SOPS_EDITOR, $EDITOR, vim, nano or vi' }],
  async run({ terminal, args, flags }) {
    const file = await readSealedFile(terminal, args[0]!, flags);
    const format = file.format.name;
    const identities = await explained(file.name, async () => await identitiesFor(terminal, file));
    const plain = await explained(file.name, async () => await decrypt(file.content, { format, identities }));
    await withClearCopy(basename(file.path), plain, async (copy) => {
      const options = { format, identities, clock: terminal.clock };
      let before = plain;
      for (;;) {
        await openEditor(terminal, copy);
        const changed = await readCopy(copy);
        if (changed.equals(plain)) {
          terminal.err(`${file.name}: nothing changed\n`);
          return;
        }
        try {
          const result = await explained(file.name, async () => await edit(file.content, changed, options));
          await writeBack(terminal, file, result);
          return;
        } catch (error) {
          // Who left it as it was gives up; a program in the place of an editor would do the same again.
          if (!terminal.interactive || !isMistake(error) || changed.equals(before)) throw error;
          terminal.err(`${error.message}; it is opened again, leave it as it is to give up\n`);
          before = changed;
        }
      }
    });
  },
});

async function readCopy(path: string): Promise<Buffer> {
  return await readFile(path).catch((cause: NodeJS.ErrnoException) => {
    throw new CommandError(`the editor left no file to read (${cause.code})`, { hint: 'the file is as it was', cause });
  });
}

/** Something that can be mended in the editor. */
function isMistake(error: unknown): error is CommandError {
  const { cause } = error as { cause?: unknown };
  return cause instanceof SopsError && (cause.code === 'input' || cause.code === 'already-encrypted');
}

async function openEditor(terminal: Terminal, path: string): Promise<void> {
  const [program, ...args] = await editorOf(terminal.env);
  const { env, signal } = terminal;
  const child = spawn(program, [...args, path], { stdio: 'inherit', env: { ...env }, signal });
  const code = await new Promise<number | null>((done, fail) => {
    child.once('close', done).once('error', (cause) => {
      fail(
        signal.aborted
          ? new CommandError('interrupted', { hint: 'the file is as it was', exitCode: exitCodes.interrupted, cause })
          : new CommandError(`cannot start the editor ${program}`, { hint: 'set EDITOR', cause }),
      );
    });
  });
  if (code !== 0)
    throw new CommandError(`the editor ${program} ended with ${String(code)}`, { hint: 'the file is as it was' });
}

/** As sops chooses it: `SOPS_EDITOR`, `EDITOR`, or the first of three that is there. */
async function editorOf(env: Terminal['env']): Promise<[string, ...string[]]> {
  const [named, ...args] = shellWords(env['SOPS_EDITOR'] || env['EDITOR'] || '');
  if (named !== undefined) return [named, ...args];
  for (const program of ['vim', 'nano', 'vi']) {
    for (const folder of (env['PATH'] ?? '').split(delimiter)) {
      if (await isProgram(join(folder, program))) return [program];
    }
  }
  throw new CommandError('there is no editor: neither vim, nano nor vi', { hint: 'set EDITOR' });
}

async function isProgram(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
