import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CommandError, defineCommand, exitCodes } from '@slipway/kube/command';

import type { Chart } from '../chart/chart.ts';
import { checkComplete, checkSupported } from '../chart/installable.ts';
import { loadChart, loadFiles } from '../chart/load.ts';
import { chartMetadataText } from '../chart/metadata-text.ts';
import { packageChart } from '../repository/package-chart.ts';
import { dependencyFlag, serverFlags } from './chart-flags.ts';
import { explained } from './release-flags.ts';

const notSigned = 'archives are not signed; helm package --sign signs them';

/** `slipway chart package`. */
export const packageCommand = defineCommand({
  arguments: [{ name: 'chart', summary: 'folders of charts', required: true, repeated: true }],
  flags: {
    ...serverFlags,
    'dependency-update': { ...dependencyFlag['dependency-update'], short: 'u' },
    destination: { type: 'string', short: 'd', value: 'folder', summary: 'where to put it', default: '.' },
    version: { type: 'string', value: 'version', summary: 'another version than Chart.yaml says', perCall: true },
    'app-version': { type: 'string', value: 'version', summary: 'another appVersion likewise', perCall: true },
  },
  knownElsewhere: { '--sign': notSigned, '--key': notSigned, '--keyring': notSigned, '--passphrase-file': notSigned },
  examples: [{ line: 'slipway chart package ./charts/web -d dist --version 1.2.0' }],
  async run({ terminal, args, flags }) {
    for (const path of args) {
      await explained(async () => {
        const folder = resolve(terminal.cwd, path);
        const update = flags['dependency-update'];
        const opened = update
          ? await (await import('./complete-chart.ts')).completeChart(path, flags, terminal)
          : await loadChart(folder);
        const chart = await renamed(opened, flags.version, flags['app-version']);
        checkSupported(chart);
        checkComplete(chart);
        const { name, version } = chart.metadata;
        const destination = resolve(terminal.cwd, flags.destination);
        await mkdir(destination, { recursive: true });
        const file = `${name}-${version}.tgz`;
        await writeFile(join(destination, file), await packageChart(chart));
        const shown = flags.destination === '.' ? join(destination, file) : join(flags.destination, file);
        terminal.out(`Successfully packaged chart and saved it to: ${shown}\n`);
      });
    }
  },
});

/** The chart with other versions in its Chart.yaml, which is written anew then. */
async function renamed(chart: Chart, version?: string, appVersion?: string): Promise<Chart> {
  if (version === undefined && appVersion === undefined) return chart;
  if (version === '') throw new CommandError('--version: it is empty', { exitCode: exitCodes.usage });
  const metadata = {
    ...chart.metadata,
    ...(version === undefined ? {} : { version }),
    ...(appVersion === undefined ? {} : { appVersion }),
    // Charts of old name them in requirements.yaml.
    ...(chart.metadata.apiVersion === 'v1' ? { dependencies: [] } : {}),
  };
  const data = Buffer.from(chartMetadataText(metadata));
  return await loadFiles(chart.raw.map((file) => (file.name === 'Chart.yaml' ? { name: file.name, data } : file)));
}
