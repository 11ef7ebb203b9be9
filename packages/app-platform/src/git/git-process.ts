import { execFile } from 'node:child_process';
import { dirname } from 'node:path';

import { type GitCredentials, gitConfigEnvironment, withoutCredentials } from './credentials.ts';
import { GitError } from './git-error.ts';

export interface GitOptions {
  readonly cwd: string;
  /** Where `origin` is, and as whom to go there. Absent: nothing leaves the machine. */
  readonly remote?: { readonly url: string; readonly credentials?: GitCredentials };
  /** Longest run, in milliseconds. Default 10 000, as `GIT_OP_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** More settings of git, for this call alone. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Exit codes that are answers, not failures. Default: 0. */
  readonly accept?: readonly number[];
}

export interface GitAnswer {
  readonly stdout: string;
  readonly exitCode: number;
}

/** Runs `git` with arguments; {@link runGit} is the one that does. */
export type GitRunner = (args: readonly string[], options: GitOptions) => Promise<GitAnswer>;

/** Settings of every call: no questions asked, no protocol that runs programs, no hooks of whoever wrote the repository. */
const commonSettings = {
  'core.hooksPath': '/dev/null',
  'protocol.ext.allow': 'never',
  'safe.directory': '*',
  'advice.detachedHead': 'false',
  'init.defaultBranch': 'main',
  'gc.auto': '0',
  // Otherwise a fetch leaves a process behind that looks for work.
  'maintenance.auto': 'false',
};

const largestAnswer = 64 * 1024 * 1024;

/** Runs `git`. Nothing of the machine's own configuration counts, so that it does the same everywhere. */
export function runGit(args: readonly string[], options: GitOptions): Promise<GitAnswer> {
  const { cwd, remote, settings, timeoutMs = 10_000, signal, accept = [0] } = options;
  const credentials = remote?.credentials;
  const access = remote && credentials ? { url: remote.url, credentials } : undefined;
  const environment = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: cwd,
    LC_ALL: 'C',
    // A folder that is no repository is none, whatever it is in.
    GIT_CEILING_DIRECTORIES: dirname(cwd),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    ...gitConfigEnvironment({ ...commonSettings, ...settings }, access),
  };
  const { promise, resolve, reject } = Promise.withResolvers<GitAnswer>();
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: largestAnswer } as const;
  const child = execFile(
    'git',
    [...args],
    { cwd, env: environment, ...limits, ...(signal ? { signal } : {}) },
    (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : undefined;
      if (exitCode !== undefined && accept.includes(exitCode)) {
        resolve({ stdout, exitCode });
        return;
      }
      if (signal?.aborted) {
        // Whoever gave it up may end now, or remove the folder: not before git has ended.
        const hasEnded = child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
        if (hasEnded) reject(signal.reason as Error);
        else child.once('exit', () => reject(signal.reason as Error));
        return;
      }
      const said = withoutCredentials(`${stderr}${stdout}`.trim().split('\n').slice(-5).join('\n'), credentials);
      if (error?.killed) reject(new GitError('Timeout', `git ${args[0]} took longer than ${timeoutMs} ms`));
      else if (error?.signal) reject(new GitError('Killed', `git ${args[0]} was ended by ${error.signal}`));
      else if (exitCode === undefined)
        reject(new GitError('Failed', `git cannot be run: ${(error as NodeJS.ErrnoException).code}`));
      else reject(new GitError('Failed', `git ${args[0]} failed (exit ${exitCode}): ${said}`, { exitCode }));
    },
  );
  return promise;
}
