import { chmod, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CommandError, exitCodes, type Terminal } from '@slipway/kube/command';

import { type Format, formatNamed, formatOfPath } from '../formats/format.ts';
import { SopsError } from '../sops-error.ts';

/** Flags of every command that works on a file. */
export const fileFlags = {
  'input-type': {
    type: 'string',
    summary: 'format of the file, whatever its name',
    choices: ['yaml', 'json', 'dotenv', 'binary'],
    perCall: true,
  },
  output: {
    type: 'string',
    short: 'o',
    value: 'file',
    summary: 'write there instead of to standard output',
    perCall: true,
  },
  'in-place': { type: 'boolean', short: 'i', summary: 'write back to the same file', perCall: true },
} as const;

export const fileArgument = [{ name: 'file', summary: 'the file', required: true }] as const;

export interface SealedFile {
  /** As typed. */
  readonly name: string;
  readonly path: string;
  readonly format: Format;
  readonly content: Buffer;
}

/** Reads the file a command is called with. */
export async function readSealedFile(
  terminal: Terminal,
  name: string,
  inputType: string | undefined,
): Promise<SealedFile> {
  const path = resolve(terminal.cwd, name);
  const format = inputType === undefined ? formatOfPath(path) : formatNamed(inputType);
  const content = await readFile(path).catch((cause: NodeJS.ErrnoException) => {
    throw new CommandError(`cannot read ${name}: ${cause.code}`, { exitCode: exitCodes.usage, cause });
  });
  return { name, path, format, content };
}

/** Writes a result where the flags say. */
export async function writeResult(
  terminal: Terminal,
  file: SealedFile,
  result: Buffer,
  flags: { readonly output?: string; readonly 'in-place': boolean },
): Promise<void> {
  if (flags['in-place'] && flags.output !== undefined) {
    throw new CommandError('--in-place and --output cannot be used together', { exitCode: exitCodes.usage });
  }
  if (flags['in-place']) await replaceFile(file.path, result);
  else if (flags.output !== undefined) await replaceFile(resolve(terminal.cwd, flags.output), result);
  else terminal.out(printable(result, file.name));
}

function printable(result: Buffer, name: string): string {
  const text = result.toString('utf8');
  if (!Buffer.from(text).equals(result)) {
    throw new CommandError(`${name} holds bytes that are no text`, { hint: 'write them to a file with --output' });
  }
  return text;
}

/** Replaces a file whole or not at all. It keeps its mode; a new one is only for its owner. */
export async function replaceFile(path: string, content: Buffer): Promise<void> {
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  const unfinished = join(dirname(path), `.${process.pid}.sops.tmp`);
  try {
    await writeFile(unfinished, content, { mode: 0o600 });
    await chmod(unfinished, mode);
    await rename(unfinished, path);
  } catch (cause) {
    await rm(unfinished, { force: true });
    throw new CommandError(`cannot write ${path}: ${(cause as NodeJS.ErrnoException).code}`, {
      hint: 'the file is as it was',
      cause,
    });
  }
}

/** Says what is wrong with a file in the words of the command line. */
export async function explained<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SopsError)) throw error;
    const usage = error.code === 'config' || error.code === 'already-encrypted' || error.code === 'not-encrypted';
    throw new CommandError(`${name}: ${error.message}`, {
      hint: error.hint || undefined,
      exitCode: usage ? exitCodes.usage : exitCodes.failed,
      cause: error,
    });
  }
}
