import { type CommandContext, defineCommand } from '@slipway/kube/command';

import { chartNode } from '../chart/chart-node.ts';
import type { Chart, ChartFile } from '../chart/chart.ts';
import { chartMetadataText } from '../chart/metadata-text.ts';
import { bytesToText } from '../go/bytes.ts';
import { crdsOf } from '../render/render.ts';
import { chartArgument, chartFlags, openChart } from './chart-flags.ts';
import { explained } from './release-flags.ts';

const showArguments = [{ name: 'chart', summary: chartArgument, required: true }] as const;

/** A command that prints a part of a chart. */
function partCommand(part: string, textOf: (chart: Chart) => string) {
  return defineCommand({
    arguments: showArguments,
    flags: chartFlags,
    examples: [{ line: `slipway chart show ${part} ./charts/web` }],
    async run({ terminal, args, flags }: CommandContext<typeof chartFlags>) {
      const chart = await explained(async () => await openChart(args[0]!, flags, terminal));
      terminal.out(textOf(chart));
    },
  });
}

const definition = ({ metadata }: Chart) => `${chartMetadataText(metadata)}\n`;

function values({ raw }: Chart): string {
  const file = raw.find(({ name }) => name === 'values.yaml');
  return file ? `${bytesToText(file.data)}\n` : '';
}

const readmeNames = new Set(['readme.md', 'readme.txt', 'readme']);

function readme({ files }: Chart): string {
  const file = files.find(({ name }: ChartFile) => readmeNames.has(name.toLowerCase()));
  return file ? `${bytesToText(file.data)}\n` : '';
}

function crds(chart: Chart): string {
  return crdsOf(chartNode(chart))
    .map(({ content }) => `${content.startsWith('---') ? '' : '---\n'}${content}\n`)
    .join('');
}

function all(chart: Chart): string {
  const after = (text: string): string => (text === '' ? '' : `---\n${text}`);
  return `${definition(chart)}${after(values(chart))}${after(readme(chart))}${crds(chart)}`;
}

/** `slipway chart show`. */
export const showCommand = defineCommand({
  subcommands: {
    chart: { summary: 'print what Chart.yaml says', command: partCommand('chart', definition) },
    values: { summary: "print the chart's values", command: partCommand('values', values) },
    readme: { summary: "print the chart's README", command: partCommand('readme', readme) },
    crds: { summary: "print the chart's definitions of kinds", command: partCommand('crds', crds) },
    all: { summary: 'print all of it', command: partCommand('all', all) },
  },
  examples: [{ line: 'slipway chart show values oci://registry.example.com/charts/web --version ^1.2' }],
});
