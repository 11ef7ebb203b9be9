import { exitCodes, systemClock, systemRandom, type Terminal } from '@slipway/kube/command';

import { runSlipway } from './program.ts';
import { keepProcessBrief } from './brief-process.ts';
import type { Installation } from './slipway-command.ts';
import { makeErrorOutput, makeOutput, mayBeTerminal } from './standard-output.ts';

/** Runs the command line of this process, and leaves its exit code. */
export async function runProcess(installation: Omit<Installation, 'terminal'>): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // Whoever asks twice does not want to wait for an orderly end.
      if (stop.signal.aborted) process.exit(exitCodes.interrupted);
      stop.abort();
    });
  }
  const launcher = watchLauncher(process.env, () => stop.abort());
  // The machine's clock does not keep a process alive; a command that waits must.
  const alive = setInterval(() => undefined, 60_000);
  try {
    process.exitCode = await runSlipway(process.argv.slice(2), {
      ...installation,
      terminal: processTerminal(stop),
    });
  } finally {
    clearInterval(alive);
    clearInterval(launcher);
  }
  // A stream tells of what it could not write one turn later.
  await new Promise((resolve) => void setImmediate(resolve));
  // Node would come to the same end after it has tidied up what the system takes back at once.
  if (process.getActiveResourcesInfo().length === 0) process.exit();
}

/** Only the timer that keeps the process alive is there: no server, no connection, no other program, no read or write under way. */
function isAlone(): boolean {
  const active = process.getActiveResourcesInfo();
  return active.length === 1 && active[0] === 'Timeout';
}

/** How often a process that npm started looks whether npm's shell is still there. */
const launcherPollMs = 500;

/**
 * npm and npx start a command in a shell, which dies of the signal that npm passes on and does not pass it on itself. The
 * command then has another parent, and nobody who could end it.
 */
function watchLauncher(
  env: Readonly<Record<string, string | undefined>>,
  ended: () => void,
): NodeJS.Timeout | undefined {
  if (env['npm_lifecycle_event'] === undefined) return undefined;
  const parent = process.ppid;
  return setInterval(() => {
    if (process.ppid !== parent) ended();
  }, launcherPollMs).unref();
}

/** Whether somebody who sits at a terminal wants colours: see https://no-color.org. */
export function wantsColours(env: Readonly<Record<string, string | undefined>>): boolean {
  return !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

function processTerminal(stop: AbortController): Terminal {
  const interactive = mayBeTerminal() && process.stdout.isTTY === true;
  // What runs until stopped has nobody left to run for when the reader goes away.
  const out = makeOutput({ isAlone, onClosed: () => stop.abort() });
  return {
    out,
    outBytes: out,
    err: makeErrorOutput(),
    readInput: async () => (await import('node:stream/consumers')).text(process.stdin),
    readInputBytes: async () => (await import('node:stream/consumers')).buffer(process.stdin),
    askHidden: async (question) => await (await import('./hidden-answer.ts')).askHidden(question),
    interactive,
    colours: interactive && wantsColours(process.env),
    columns: () => (interactive ? process.stdout.columns : 120),
    rows: () => (interactive ? process.stdout.rows : 40),
    env: process.env,
    cwd: process.cwd(),
    clock: systemClock,
    random: systemRandom,
    signal: stop.signal,
    endsSoon: keepProcessBrief,
  };
}
