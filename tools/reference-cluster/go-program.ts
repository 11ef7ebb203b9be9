import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { access, constants, rename, rm } from 'node:fs/promises';
import { constants as osConstants, setPriority } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A program that is built from a pinned Go module. */
export interface GoProgram {
  /** Name of the executable. */
  readonly name: string;
  /** For progress lines, e.g. `v1.36.3`. */
  readonly version: string;
  /** Folder of the go.mod that pins it. */
  readonly directory: string;
  /** Arguments of `go` that build it into `output`. */
  arguments(output: string): string[];
}

export interface GoBuildOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Receives one line of progress at a time. */
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
}

const progressEveryMs = 30_000;

/** Why Go cannot build in this folder; undefined when it can. */
export async function goProblem(directory: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    // Asked inside the module, Go itself says whether it is new enough (or may fetch a newer toolchain).
    await promisify(execFile)('go', ['env', 'GOVERSION'], { cwd: directory, env });
    return undefined;
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT') return 'there is no go on the PATH to build with';
    return `the go on the PATH cannot build it: ${stderr?.trim() || String(error)}`;
  }
}

/** Builds a program into `dir`. The executable appears there whole or not at all. */
export async function buildGoProgram(program: GoProgram, dir: string, options: GoBuildOptions): Promise<void> {
  const { env, log, signal } = options;
  const { name } = program;
  const unfinished = join(dir, `.${name}.${process.pid}`);
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1000);
  log(`building ${name} ${program.version} …`);
  const progress = setInterval(() => log(`building ${name} … ${seconds()} s`), progressEveryMs);
  try {
    const child = spawn('go', program.arguments(unfinished), {
      cwd: program.directory,
      env: { ...env, CGO_ENABLED: '0', GOWORK: 'off' },
      stdio: ['ignore', 'ignore', 'pipe'],
      signal,
    });
    if (child.pid) lowerPriority(child.pid);
    await goSucceeded(child, name);
    await rename(unfinished, join(dir, name));
    log(`built ${name} in ${seconds()} s`);
  } finally {
    clearInterval(progress);
    await rm(unfinished, { force: true });
  }
}

export async function isExecutable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function goSucceeded(child: ChildProcess, name: string): Promise<void> {
  const errors: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors.push(text);
    if (errors.length > 200) errors.shift();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (code !== 0) throw new Error(`go could not build ${name} (exit code ${code}):\n${errors.join('').trim()}`);
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, osConstants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Only a courtesy to other work on the machine.
  }
}
