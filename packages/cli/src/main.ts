#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock, systemRandom } from '@slipway/kube';

import { findOperators } from './operators.ts';
import { runSlipway } from './program.ts';
import type { Terminal } from './terminal.ts';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

const terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  interactive: process.stdout.isTTY === true,
  colours: process.stdout.isTTY === true && !process.env['NO_COLOR'],
  columns: () => process.stdout.columns ?? 120,
  env: process.env,
  cwd: process.cwd(),
  clock: systemClock,
  random: systemRandom,
  signal: stop.signal,
};

// A reader that goes away early (`slipway crds | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const { version } = JSON.parse(await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as {
  version: string;
};
// The machine's clock does not keep a process alive; a command that waits must.
const alive = setInterval(() => undefined, 60_000);
try {
  process.exitCode = await runSlipway(process.argv.slice(2), { terminal, operators: await findOperators(), version });
} finally {
  clearInterval(alive);
}
