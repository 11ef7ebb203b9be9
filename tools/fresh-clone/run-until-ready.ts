import { spawn } from 'node:child_process';

const limitMs = 10 * 60_000;
/** What each of our operators' examples looks like when it is done. */
const ours = [/Operand hello → Ready/, /BtpOperator kyma-system\/btpoperator → Ready/];

/**
 * Runs a command that shows operators until every example is ready (`wanted`: as lines of its output), then stops it as Ctrl-C does: all processes of the
 * terminal get the signal. Fails when it ends earlier, or leaves a process behind.
 */
export function runUntilReady(
  command: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
  wanted: readonly RegExp[] = ours,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const group = -child.pid!;
    let output = '';
    let stopping = false;
    const timer = setTimeout(() => {
      process.kill(group, 'SIGKILL');
      reject(new Error(`not ready within ${limitMs / 1000} s:\n${output}`));
    }, limitMs);
    const take = (chunk: Buffer): void => {
      output += String(chunk);
      if (stopping || !wanted.every((pattern) => pattern.test(output))) return;
      stopping = true;
      process.kill(group, 'SIGINT');
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('close', () => {
      clearTimeout(timer);
      if (!stopping || !output.includes('stopped;')) reject(new Error(`ended before everything was ready:\n${output}`));
      else if (isAlive(group)) reject(new Error(`stopped, and left a process behind:\n${output}`));
      else resolve(output);
    });
  });
}

function isAlive(group: number): boolean {
  try {
    return process.kill(group, 0);
  } catch {
    return false;
  }
}
