import { readFileSync } from 'node:fs';

/** Whether a process still does something; one that only waits to be buried by its parent does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    // The state follows the name, which is in parentheses and may itself hold some.
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)![0];
    return state !== 'Z' && state !== 'X';
  } catch {
    return process.platform !== 'linux';
  }
}
