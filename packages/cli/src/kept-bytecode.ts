import { accessSync, constants as fileAccess, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';

/** The length of what stands behind the bytecode in its file: the milliseconds of processor time of the run that kept it. */
const trailerBytes = 4;

/** How much more work a run has to be than the one that kept the bytecode, to be kept in its place: it came to functions the other did not. */
const moreWork = 1.5;

/**
 * A script and the bytecode of the functions it used in earlier runs. Node's own cache is written before anything has run, so it has no
 * function that is called later: those are most of the time of a short run. V8 takes bytecode only from its own version with the same flags.
 */
export class KeptBytecode {
  readonly #script: Script;
  readonly #path: string | undefined;
  readonly #keptMs: number;

  /**
   * @param source its first line is different for every content: V8 compares lengths only
   * @param folder where bytecode is kept. It is run: nobody else may write there. Nothing is kept without one.
   */
  constructor(file: string, source: string, folder: string | undefined) {
    const digest = /^\/\/ ([\w-]+)\n/.exec(source)?.[1];
    if (digest === undefined) throw new Error(`${file} does not begin with its digest`);
    const { version, arch } = process;
    const name = `${basename(file, '.cjs')}-${digest}-${version}-${arch}-${flagsTag()}.bytecode`;
    this.#path = folder === undefined ? undefined : join(folder, name);
    const kept = this.#path === undefined ? undefined : read(this.#path);
    this.#script = new Script(source, {
      filename: file,
      ...(kept ? { cachedData: kept.bytecode } : {}),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    this.#keptMs = kept && this.#script.cachedDataRejected === false ? kept.ms : 0;
  }

  /** Runs the script, and answers its value. */
  run(): unknown {
    return this.#script.runInThisContext();
  }

  /** Keeps the bytecode of everything that ran, unless what is kept is of a run as large as this one. */
  keep(): void {
    const { user, system } = process.cpuUsage();
    const ms = Math.round((user + system) / 1000);
    if (this.#path === undefined || ms < this.#keptMs * moreWork || !mayWriteBeside(this.#path)) return;
    const trailer = Buffer.alloc(trailerBytes);
    trailer.writeUInt32LE(ms);
    write(this.#path, Buffer.concat([this.#script.createCachedData(), trailer]));
  }
}

/** V8's own flags, as far as they were given. */
function flagsTag(): string {
  return process.getBuiltinModule('node:v8').cachedDataVersionTag().toString(16);
}

function read(path: string): { readonly bytecode: Buffer; readonly ms: number } | undefined {
  try {
    const all = readFileSync(path);
    const end = all.length - trailerBytes;
    return end < 0 ? undefined : { bytecode: all.subarray(0, end), ms: all.readUInt32LE(end) };
  } catch {
    return undefined;
  }
}

/** An image that cannot be written should not pay for bytecode at every run. */
function mayWriteBeside(path: string): boolean {
  try {
    accessSync(dirname(path), fileAccess.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** In one step: who starts meanwhile reads all of it or none. A full disk keeps nothing. */
function write(path: string, content: Buffer): void {
  const unfinished = `${path}.${process.pid}`;
  try {
    // On the disk before it has its name: V8 does not look whether the middle of a file is there.
    writeFileSync(unfinished, content, { flag: 'wx', mode: 0o600, flush: true });
    renameSync(unfinished, path);
  } catch {
    rmSync(unfinished, { force: true });
  }
}
