import { resolve } from 'node:path';
import type { FlagValues, Terminal } from '@slipway/kube/command';

import type { Chart } from '../chart/chart.ts';
import { loadChart } from '../chart/load.ts';
import { updateDependencies } from '../repository/chart-dependencies.ts';
import { type chartFlags, openRepositories, type serverFlags } from './chart-flags.ts';

/** Fetches what a chart in a folder asks for into its `charts/`, and reads it again. */
export async function completeChart(
  chart: string,
  flags: FlagValues<typeof serverFlags> & Partial<FlagValues<typeof chartFlags>>,
  terminal: Terminal,
): Promise<Chart> {
  const path = resolve(terminal.cwd, chart);
  await using repositories = await openRepositories(terminal, flags);
  await updateDependencies(path, {
    repositories,
    clock: terminal.clock,
    signal: terminal.signal,
    progress: (text) => terminal.err(`${text}\n`),
  });
  return await loadChart(path);
}
