import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** A started process of the cluster, with its output in a file. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when the process is gone; never rejects. */
  readonly exited: Promise<void>;
  hasExited(): boolean;
  /** "exit code 1", "signal SIGKILL" */
  howItEnded(): string;
  /** Asks the process to end and kills it after `graceMs`. */
  stop(graceMs: number): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

export async function startChild(
  name: string,
  binary: string,
  args: readonly string[],
  logFile: string,
): Promise<Child> {
  const output = openSync(logFile, 'a');
  let child: ChildProcess;
  try {
    child = spawn(binary, args, { env: withoutProxies(process.env), stdio: ['ignore', output, output] });
  } finally {
    closeSync(output);
  }
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(new Error(`cannot start ${binary}: ${error.message}`)));
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  return {
    name,
    pid: child.pid!,
    logFile,
    exited,
    hasExited,
    howItEnded: () => (child.signalCode ? `signal ${child.signalCode}` : `exit code ${child.exitCode}`),
    async stop(graceMs) {
      if (hasExited()) return;
      child.kill('SIGTERM');
      const given = new AbortController();
      await Promise.race([exited, sleep(graceMs, undefined, { signal: given.signal }).catch(() => {})]);
      given.abort();
      if (!hasExited()) child.kill('SIGKILL');
      await exited;
    },
    kill(signal) {
      if (!hasExited()) child.kill(signal);
    },
  };
}

/** The last lines a process wrote. */
export async function tailOfLog(child: Pick<Child, 'logFile'>, lines = 30): Promise<string> {
  const text = await readFile(child.logFile, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}

/** Go would send calls of webhooks and etcd through a proxy of the surrounding machine. */
function withoutProxies(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(https?|all|no)_proxy$/i.test(name)));
}
