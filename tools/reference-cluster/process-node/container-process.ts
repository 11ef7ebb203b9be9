import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { containerRootScript, type Mount, otherFileSystems } from './container-root.ts';

export interface ContainerProcessOptions {
  /** Folder of the container, for its root. */
  folder: string;
  /** Process whose network namespace is the pod's; without one, the machine's network. */
  networkOf?: number;
  command: readonly string[];
  workingDir: string;
  env: Readonly<Record<string, string>>;
  mounts: readonly Mount[];
  /** Receives what the container writes. */
  logFile: string;
}

export interface ContainerExit {
  exitCode: number;
  signal?: number;
}

/** A container at work. */
export class ContainerProcess {
  readonly pid: number;
  /** Resolves when the process is gone, and everything it started with it. */
  readonly exited: Promise<ContainerExit>;

  /** Resolves when the container's own program runs; `onSpawn` learns the process id before, while its root is prepared. */
  static async start(options: ContainerProcessOptions, onSpawn: (pid: number) => void): Promise<ContainerProcess> {
    const { folder, networkOf, command, workingDir, env, mounts, logFile } = options;
    await mkdir(folder, { recursive: true });
    await mkdir(dirname(logFile), { recursive: true });
    const script = containerRootScript({
      folder,
      mounts,
      workingDir,
      otherFileSystems: otherFileSystems(readFileSync('/proc/self/mounts', 'utf8')),
    });
    const network = networkOf === undefined ? [] : ['nsenter', `--net=/proc/${networkOf}/ns/net`];
    // Each of them becomes the next, so that signals reach the container's own program.
    const [program, ...args] = [...network, 'unshare', '--mount', '/bin/sh', '-ec', script, 'container', ...command];
    const output = openSync(logFile, 'a', 0o600);
    try {
      const child = spawn(program!, args, { env, stdio: ['ignore', output, output, 'pipe'], detached: true });
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve);
        child.once('error', reject);
      });
      const container = new ContainerProcess(child);
      onSpawn(container.pid);
      const prepared = child.stdio[3] as Readable;
      prepared.resume();
      await new Promise((resolve) => prepared.once('close', resolve));
      return container;
    } finally {
      closeSync(output);
    }
  }

  private constructor(child: ChildProcess) {
    this.pid = child.pid!;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#signal('SIGKILL');
        const number = signal ? constants.signals[signal] : undefined;
        resolve(number === undefined ? { exitCode: code ?? 0 } : { exitCode: 128 + number, signal: number });
      });
    });
  }

  /** Asks the program to end and kills it after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#signal('SIGKILL'), graceMs);
    if (graceMs > 0) {
      try {
        process.kill(this.pid, 'SIGTERM');
      } catch {
        // It has just ended by itself.
      }
    }
    await this.exited;
    clearTimeout(timer);
  }

  /** To everything the container started and did not move to a group of its own. */
  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.pid, signal);
    } catch {
      // Nobody is left.
    }
  }
}
