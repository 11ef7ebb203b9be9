import { randomUUID } from 'node:crypto';
import { chmod, chown, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CommandError, exitCodes, type Terminal } from '@slipway/kube/command';

import { type Format, type FormatName, formatNamed, formatOfPath } from '../formats/format.ts';
import { findAgeIdentities } from '../keys/key-lookup.ts';
import { SopsError } from '../sops-error.ts';
import { describe } from '../sops-file.ts';

const formatNames = ['yaml', 'json', 'dotenv', 'binary'] as const satisfies readonly FormatName[];

export const inputTypeFlag = {
  'input-type': {
    type: 'string',
    summary: 'format of the file, whatever its name',
    choices: formatNames,
    perCall: true,
  },
} as const;

/** Flags of every command that reads a file and gives out another. */
export const fileFlags = {
  ...inputTypeFlag,
  output: {
    type: 'string',
    short: 'o',
    value: 'file',
    summary: 'write there instead of to standard output',
    perCall: true,
  },
  'in-place': { type: 'boolean', short: 'i', summary: 'write back to the same file', perCall: true },
} as const;

/** Flags of commands that can give out another format, and read standard input. */
export const convertFlags = {
  ...fileFlags,
  'output-type': {
    type: 'string',
    summary: 'format of the result; else that of the file',
    choices: formatNames,
    perCall: true,
  },
  'filename-override': {
    type: 'string',
    value: 'name',
    summary: 'take the format, and the rule of .sops.yaml, for a file of this name',
    perCall: true,
  },
} as const;

export const fileArgument = [{ name: 'file', summary: 'the file', required: true }] as const;

export const fileOrInputArgument = [
  {
    name: 'file',
    summary: 'the file; without it, or with -, standard input with --input-type or --filename-override',
  },
] as const;

export interface SealedFile {
  /** As typed. */
  readonly name: string;
  /** Where it is, or would be by `--filename-override`. */
  readonly path: string;
  readonly format: Format;
  readonly content: Buffer;
}

export interface ReadFlags {
  readonly 'input-type'?: string;
  readonly 'filename-override'?: string;
}

/** Reads the file a command is called with. */
export async function readSealedFile(terminal: Terminal, name = '-', flags: ReadFlags): Promise<SealedFile> {
  const type = flags['input-type'];
  const override = flags['filename-override'];
  if (name === '-' && type === undefined && override === undefined) {
    throw new CommandError('standard input has no name that tells its format', {
      hint: 'name the format with --input-type, or the file with --filename-override',
      exitCode: exitCodes.usage,
    });
  }
  const path = resolve(terminal.cwd, override ?? name);
  const format = await explained(name, async () => formatFor(path, flags));
  return { name, path, format, content: name === '-' ? await readInput(terminal) : await read(terminal, name) };
}

export function formatFor(path: string, { 'input-type': type }: ReadFlags): Format {
  return type === undefined ? formatOfPath(path) : formatNamed(type);
}

async function read(terminal: Terminal, name: string): Promise<Buffer> {
  return await readFile(resolve(terminal.cwd, name)).catch((cause: NodeJS.ErrnoException) => {
    throw new CommandError(`cannot read ${name}: ${cause.code}`, { exitCode: exitCodes.usage, cause });
  });
}

async function readInput(terminal: Terminal): Promise<Buffer> {
  if (terminal.readInputBytes) return Buffer.from(await terminal.readInputBytes());
  const text = await terminal.readInput();
  // What is no text has become this character on the way.
  if (text.includes('\ufffd')) {
    throw new CommandError('standard input holds bytes that are no text', { hint: 'name a file instead' });
  }
  return Buffer.from(text);
}

/** The identities of the user for a file; a place that cannot be read is told. */
export async function identitiesFor(terminal: Terminal, file: SealedFile): Promise<string[]> {
  return await findAgeIdentities({
    env: terminal.env,
    recipients: describe(file.content, file.format.name).age.map(({ recipient }) => recipient),
    onProblem: (problem) => terminal.err(`${problem.message}\n`),
    askPassphrase: async (question) => await terminal.askHidden?.(question),
  });
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
  if (flags['in-place']) await writeBack(terminal, file, result);
  else if (flags.output !== undefined) await replaceFile(resolve(terminal.cwd, flags.output), result);
  else if (terminal.outBytes && !terminal.interactive) terminal.outBytes(result);
  else terminal.out(printable(result, file.name));
}

function printable(result: Buffer, name: string): string {
  const text = result.toString('utf8');
  if (!Buffer.from(text).equals(result)) {
    throw new CommandError(`${name} holds bytes that are no text`, { hint: 'write them to a file with --output' });
  }
  return text;
}

/** Writes a file back, unless somebody else has changed it since it was read. */
export async function writeBack(terminal: Terminal, file: SealedFile, result: Buffer): Promise<void> {
  if (file.name === '-') {
    throw new CommandError('standard input cannot be written back', {
      hint: 'use --output',
      exitCode: exitCodes.usage,
    });
  }
  if (result.equals(file.content)) return;
  const present = await read(terminal, file.name);
  if (!present.equals(file.content)) {
    throw new CommandError(`${file.name} was changed by somebody else meanwhile`, {
      hint: 'nothing was written; do it again',
    });
  }
  await replaceFile(resolve(terminal.cwd, file.name), result);
}

/** Makes a file that was not there, and is not now. */
export async function makeFile(path: string, content: Buffer): Promise<void> {
  const present = await stat(path).catch(() => undefined);
  if (present !== undefined) {
    throw new CommandError(`${path} was made by somebody else meanwhile`, { hint: 'nothing was written; do it again' });
  }
  await replaceFile(path, content);
}

/**
 * Replaces a file whole or not at all. It keeps its mode and owner, and a link to it stays one; a new file is only for its owner. What
 * is no file, such as `/dev/stdout`, is written to.
 */
export async function replaceFile(path: string, content: Buffer): Promise<void> {
  const present = await stat(path).catch(() => undefined);
  try {
    if (present === undefined || present.isFile()) {
      await renameInto(present === undefined ? path : await realpath(path), content, present).catch(async (error) => {
        if (present === undefined || !cannotBeReplaced.has((error as NodeJS.ErrnoException).code)) throw error;
        await writeInto(path, content);
      });
    } else {
      await writeFile(path, content);
    }
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError(`cannot write ${path}: ${(cause as NodeJS.ErrnoException).code}`, {
      hint: present === undefined ? undefined : 'the file is as it was',
      cause,
    });
  }
}

/** Codes of a file that can be written but not replaced: its folder is read-only, or it is mounted by itself, as containers have it. */
const cannotBeReplaced = new Set<string | undefined>(['EACCES', 'EPERM', 'EROFS', 'EBUSY']);

async function renameInto(
  path: string,
  content: Buffer,
  present: { readonly uid: number; readonly gid: number; readonly mode: number } | undefined,
): Promise<void> {
  // A name nobody can have put a link at, and short, whatever that of the file is.
  const unfinished = join(dirname(path), `.${randomUUID()}.tmp`);
  try {
    await writeFile(unfinished, content, { mode: 0o600, flag: 'wx', flush: true });
    if (present !== undefined) {
      // Only the superuser can give a file away, and then the owner keeps it.
      await chown(unfinished, present.uid, present.gid).catch(() => undefined);
      await chmod(unfinished, present.mode & 0o777);
    }
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}

async function writeInto(path: string, content: Buffer): Promise<void> {
  await using file = await open(path, 'r+');
  try {
    await file.writeFile(content);
    await file.truncate(content.length);
  } catch (cause) {
    throw new CommandError(`${path} was written in part: ${(cause as NodeJS.ErrnoException).code}`, {
      hint: 'restore the file from its history',
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
