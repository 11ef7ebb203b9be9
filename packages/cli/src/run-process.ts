import { systemClock, systemRandom } from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';

import { exitCodes } from './cli-error.ts';
import { runSlipway } from './program.ts';
import type { Terminal } from './terminal.ts';

/** Runs the command line of this process with these operators, and leaves its exit code. */
export async function runProcess(operators: readonly OperatorDescription[], version: string): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // Whoever asks twice does not want to wait for an orderly end.
      if (stop.signal.aborted) process.exit(exitCodes.interrupted);
      stop.abort();
    });
  }
  // A reader that goes away early (`slipway crds | head`) is not an error; what runs until stopped has nobody left to run for.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    stop.abort();
  });
  // The machine's clock does not keep a process alive; a command that waits must.
  const alive = setInterval(() => undefined, 60_000);
  try {
    process.exitCode = await runSlipway(process.argv.slice(2), {
      terminal: processTerminal(stop.signal),
      operators,
      version,
    });
  } finally {
    clearInterval(alive);
  }
}

function processTerminal(signal: AbortSignal): Terminal {
  const interactive = process.stdout.isTTY === true;
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    interactive,
    colours: interactive && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb',
    columns: () => process.stdout.columns ?? 120,
    rows: () => process.stdout.rows ?? 40,
    env: process.env,
    cwd: process.cwd(),
    clock: systemClock,
    random: systemRandom,
    signal,
  };
}
