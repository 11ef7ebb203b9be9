import { join, resolve } from 'node:path';
import { type CommandContext, defineCommand } from '@slipway/kube/command';

import { loadChart } from '../chart/load.ts';
import { buildDependencies, updateDependencies } from '../repository/chart-dependencies.ts';
import { dependencyStatus, unnamedCharts } from '../repository/dependency-status.ts';
import { shownAddress } from '../repository/shown-address.ts';
import { chartFlags, openRepositories, serverFlags } from './chart-flags.ts';
import { explained } from './release-flags.ts';
import { rowsText } from './rows-text.ts';

const folderArgument = [{ name: 'chart', summary: 'folder of the chart; the current one by default' }] as const;

const { username, password, 'pass-credentials': passCredentials } = chartFlags;
const fetchFlags = { ...serverFlags, username, password, 'pass-credentials': passCredentials };

const knownElsewhere = { '--skip-refresh': 'only the indexes that are needed are asked for: leave it out' } as const;

type Work = typeof updateDependencies;

async function carryOut({ terminal, args, flags }: CommandContext<typeof fetchFlags>, work: Work): Promise<void> {
  await explained(async () => {
    await using repositories = await openRepositories(terminal, flags);
    await work(resolve(terminal.cwd, args[0] ?? '.'), {
      repositories,
      clock: terminal.clock,
      signal: terminal.signal,
      progress: (text) => terminal.out(`${text}\n`),
    });
  });
}

const updateCommand = defineCommand({
  arguments: folderArgument,
  flags: fetchFlags,
  knownElsewhere,
  examples: [{ line: 'slipway chart dependency update ./charts/web' }],
  run: async (context) => await carryOut(context, updateDependencies),
});

const buildCommand = defineCommand({
  arguments: folderArgument,
  flags: fetchFlags,
  knownElsewhere,
  examples: [{ line: 'slipway chart dependency build ./charts/web' }],
  run: async (context) => await carryOut(context, buildDependencies),
});

const listCommand = defineCommand({
  arguments: folderArgument,
  examples: [{ line: 'slipway chart dependency list ./charts/web' }],
  async run({ terminal, args }) {
    const [given = '.'] = args;
    const path = resolve(terminal.cwd, given);
    await explained(async () => {
      const chart = await loadChart(path);
      const { dependencies } = chart.metadata;
      if (dependencies.length === 0) {
        terminal.out(`WARNING: no dependencies at ${join(given, 'charts')}\n`);
        return;
      }
      const rows = await Promise.all(
        dependencies.map(async (each) => ({
          name: each.name,
          version: each.version,
          repository: shownAddress(each.repository),
          status: await dependencyStatus(path, chart, each),
        })),
      );
      terminal.out(`${rowsText(rows, ['NAME', 'VERSION', 'REPOSITORY', 'STATUS'], 'table')}\n`);
      for (const file of await unnamedCharts(path, chart))
        terminal.out(`WARNING: ${JSON.stringify(file)} is not in Chart.yaml.\n`);
    });
  },
});

/** `slipway chart dependency`. */
export const dependencyCommand = defineCommand({
  subcommands: {
    update: { summary: 'fetch what Chart.yaml asks for, and write Chart.lock', command: updateCommand },
    build: { summary: 'fetch what Chart.lock names', command: buildCommand },
    list: { summary: 'show what Chart.yaml asks for and what is in charts/', command: listCommand },
  },
  examples: [{ line: 'slipway chart dependency update ./charts/web' }],
});
