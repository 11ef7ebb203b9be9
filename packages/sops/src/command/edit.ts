import { spawn } from 'node:child_process';
import { access, constants, readFile, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { CommandError, defineCommand, exitCodes, type Terminal } from '@slipway/kube/command';

import type { FormatName } from '../formats/format.ts';
import { shellWords } from '../keys/shell-words.ts';
import { SopsError } from '../sops-error.ts';
import { decrypt, edit, encrypt } from '../sops-file.ts';
import { withClearCopy } from './clear-copy.ts';
import { configuredIndent } from './config-flag.ts';
import { creationFlags, creationOf } from './creation.ts';
import {
  explained,
  formatFor,
  identitiesFor,
  inputTypeFlag,
  makeFile,
  type ReadFlags,
  readSealedFile,
  writeBack,
} from './sealed-file.ts';

/** `slipway sops edit`. */
export const editCommand = defineCommand({
  arguments: [{ name: 'file', summary: 'the file; one that is not there yet is made', required: true }],
  flags: { ...inputTypeFlag, ...creationFlags },
  examples: [{ line: 'slipway sops edit env/secrets.yaml', comment: 'in $SOPS_EDITOR, $EDITOR, vim, nano or vi' }],
  async run({ terminal, args, flags }) {
    const path = resolve(terminal.cwd, args[0]!);
    const isNew = await stat(path).then(
      () => false,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    );
    const work = isNew ? await newFile(terminal, args[0]!, flags) : await presentFile(terminal, args[0]!, flags);
    await withClearCopy(basename(path), work.plain, async (copy) => {
      let before = work.plain;
      for (;;) {
        await openEditor(terminal, copy);
        const changed = await readCopy(copy);
        if (changed.equals(work.plain)) {
          terminal.err(`${args[0]}: nothing changed\n`);
          return;
        }
        try {
          await work.save(changed);
          return;
        } catch (error) {
          // Who left it as it was gives up; a program in the place of an editor would do the same again.
          if (!terminal.interactive || !isMistake(error) || changed.equals(before)) throw error;
          terminal.err(`${error.message}; it is opened again, leave it as it is to give up\n`);
          // The editor would cover what was said.
          await terminal.askHidden?.('press Enter');
          before = changed;
        }
      }
    });
  },
});

interface EditedFile {
  /** What the editor shows. */
  readonly plain: Buffer;
  save(changed: Buffer): Promise<void>;
}

async function presentFile(
  terminal: Terminal,
  name: string,
  flags: ReadFlags & { readonly 'sops-config'?: string },
): Promise<EditedFile> {
  const file = await readSealedFile(terminal, name, flags);
  const format = file.format.name;
  return await explained(file.name, async () => {
    const identities = await identitiesFor(terminal, file);
    const indent = await configuredIndent(terminal, format, flags);
    const options = { format, identities, indent, clock: terminal.clock };
    return {
      plain: await decrypt(file.content, options),
      async save(changed) {
        const result = await explained(file.name, async () => await edit(file.content, changed, options));
        await writeBack(terminal, file, result);
      },
    };
  });
}

const examples: Readonly<Record<FormatName, string>> = {
  yaml: 'example: change this, or the file is not made\n',
  json: '{\n\t"example": "change this, or the file is not made"\n}\n',
  dotenv: 'EXAMPLE=change this, or the file is not made\n',
  binary: '',
};

async function newFile(
  terminal: Terminal,
  name: string,
  flags: ReadFlags & { readonly age?: string; readonly 'sops-config'?: string },
): Promise<EditedFile> {
  const path = resolve(terminal.cwd, name);
  const options = await explained(name, async () => {
    const format = formatFor(path, flags).name;
    const indent = await configuredIndent(terminal, format, flags);
    return { ...(await creationOf(terminal, path, flags)), format, indent, clock: terminal.clock };
  });
  const seal = async (plain: Buffer): Promise<Buffer> =>
    await explained(name, async () => await encrypt(plain, options));
  const plain = Buffer.from(examples[options.format]);
  // Whatever stands in the way of it is said before somebody writes.
  await seal(plain);
  await access(dirname(path), constants.W_OK).catch((cause: NodeJS.ErrnoException) => {
    throw new CommandError(`cannot write ${path}: ${cause.code}`, { exitCode: exitCodes.usage, cause });
  });
  return { plain, save: async (changed) => await makeFile(path, await seal(changed)) };
}

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
