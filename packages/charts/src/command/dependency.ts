import { join, resolve } from 'node:path';
import { type CommandContext, defineCommand } from '@slipway/kube/command';

import { loadChart } from '../chart/load.ts';
import { quote } from '../go/quote.ts';
import { buildDependencies, updateDependencies } from '../repository/chart-dependencies.ts';
import { dependencyStatus, unnamedEntries } from '../repository/dependency-status.ts';
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
  flags: {
    'max-col-width': { type: 'integer', value: 'characters', summary: 'cut what is longer', default: 80 },
  },
  examples: [{ line: 'slipway chart dependency list ./charts/web' }],
  async run({ terminal, args, flags }) {
    const [given = '.'] = args;
    const path = resolve(terminal.cwd, given);
    await explained(async () => {
      const chart = await loadChart(path);
      const { dependencies } = chart.metadata;
      const folder = join(given, 'charts');
      if (dependencies.length === 0 && !chart.hasEmptyRequirements) {
        terminal.out(`WARNING: no dependencies at ${folder}\n`);
        return;
      }
      const cell = (text: string) => cut(text, flags['max-col-width']);
      const rows = await Promise.all(
        dependencies.map(async (each) => ({
          name: cell(each.name),
          version: cell(each.version),
          repository: cell(shownAddress(each.repository)),
          status: await dependencyStatus(path, chart, each),
        })),
      );
      terminal.out(`${rowsText(rows, ['NAME', 'VERSION', 'REPOSITORY', 'STATUS'], 'table')}\n`);
      for (const { name, isChart } of await unnamedEntries(path, chart))
        terminal.out(`WARNING: ${quote(join(folder, name))} is not ${isChart ? 'in Chart.yaml' : 'a chart'}.\n`);
    });
  },
});

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, Math.max(longest - 3, 1))}...` : text;
}

/** `slipway chart dependency`. */
export const dependencyCommand = defineCommand({
  subcommands: {
    update: { summary: 'fetch what Chart.yaml asks for, and write Chart.lock', command: updateCommand },
    build: { summary: 'fetch what Chart.lock names', command: buildCommand },
    list: { summary: 'show what Chart.yaml asks for and what is in charts/', command: listCommand },
  },
  examples: [{ line: 'slipway chart dependency update ./charts/web' }],
});
