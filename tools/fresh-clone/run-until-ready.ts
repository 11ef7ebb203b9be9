import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';

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
    child.on('close', async () => {
      clearTimeout(timer);
      if (!stopping || !output.includes('stopped;')) reject(new Error(`ended before everything was ready:\n${output}`));
      // Programs that git starts end by themselves when it is gone, a moment later; what stays longer was left behind.
      for (let waitedMs = 0; waitedMs < 2000 && isAlive(group); waitedMs += 50) await wait(50);
      if (isAlive(group)) reject(new Error(`stopped, and left a process behind:\n${output}`));
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
