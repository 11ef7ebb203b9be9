import { CommandError, formatDuration, sleep, type Terminal } from '@slipway/kube';

import { writeLine } from './view/write-line.ts';

const pollMs = 500;

export const defaultTimeoutMs = 300_000;
/** `--timeout` of the commands that wait. */
export const timeoutFlag = { type: 'duration', summary: 'how long to wait (default: 5m)' } as const;

/**
 * Runs `pass` until it has nothing left to wait for. What it waits for is said once for each change; after `timeoutMs` it is
 * an error that names it.
 */
export async function waitUntilDone(
  terminal: Terminal,
  timeoutMs: number,
  pass: () => Promise<{ waitsFor: string | undefined }>,
): Promise<void> {
  const end = terminal.clock.now() + timeoutMs;
  let said = '';
  for (;;) {
    const { waitsFor } = await pass();
    if (waitsFor === undefined) return;
    if (waitsFor !== said) writeLine(terminal, `  waiting for ${waitsFor}`);
    said = waitsFor;
    if (terminal.clock.now() >= end)
      throw new CommandError(`gave up after ${formatDuration(timeoutMs)}, still waiting for ${waitsFor}`, {
        hint: 'nothing was undone: run the command again to go on, with a longer --timeout if it takes that long',
      });
    await sleep(terminal.clock, pollMs, terminal.signal);
  }
}
