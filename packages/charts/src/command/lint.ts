import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CommandError, defineCommand } from '@slipway/kube/command';

import { ChartError } from '../chart/chart-error.ts';
import { chartFiles } from '../chart/load.ts';
import { lintChart, type LintOptions } from '../lint/lint-chart.ts';
import type { LintMessage } from '../lint/lint-message.ts';
import { Capabilities, defaultKubeVersion } from '../render/capabilities.ts';
import { explained } from './release-flags.ts';
import { readValueFlags, valueFlags } from './value-flags.ts';

/** `slipway chart lint`. */
export const lintCommand = defineCommand({
  arguments: [{ name: 'chart', summary: 'folders or .tgz; the current folder by default', repeated: true }],
  flags: {
    ...valueFlags,
    strict: { type: 'boolean', summary: 'warnings are failures, too' },
    quiet: { type: 'boolean', summary: 'print only warnings and errors' },
    'with-subcharts': { type: 'boolean', summary: 'look at the charts under charts/, too' },
    namespace: {
      type: 'string',
      short: 'n',
      value: 'namespace',
      summary: 'namespace templates see',
      default: 'default',
    },
    'kube-version': {
      type: 'string',
      value: 'version',
      summary: `the Kubernetes version templates see, and by which APIs are judged; ${defaultKubeVersion} by default`,
    },
    'skip-schema-validation': { type: 'boolean', summary: 'do not check values against values.schema.json' },
  },
  examples: [{ line: 'slipway chart lint ./charts/web --strict -f prod.yaml' }],
  async run({ terminal, args, flags }) {
    await explained(async () => {
      const options: LintOptions = {
        values: await readValueFlags(flags, terminal),
        namespace: flags.namespace,
        kubeVersion: flags['kube-version'],
        skipSchemaValidation: flags['skip-schema-validation'],
      };
      checkVersion(flags['kube-version']);
      const given = args.length === 0 ? ['.'] : args;
      const paths = [...given];
      if (flags['with-subcharts'])
        for (const path of given) paths.push(...(await subcharts(terminal.cwd, join(path, 'charts'))));
      const failing = flags.strict ? ['ERROR', 'WARNING'] : ['ERROR'];
      let failed = 0;
      let hasComplaint = false;
      for (const path of paths) {
        const outcome = await outcomeOf(resolve(terminal.cwd, path), path, options);
        const isRefused = typeof outcome === 'string';
        const complaints = isRefused ? [] : outcome.filter(({ severity }) => severity !== 'INFO');
        if (isRefused || complaints.some(({ severity }) => failing.includes(severity))) failed += 1;
        hasComplaint ||= isRefused || complaints.length > 0;
        if (flags.quiet && !isRefused && complaints.length === 0) continue;
        const lines = isRefused ? [`Error ${outcome}`] : (flags.quiet ? complaints : outcome).map(messageText);
        terminal.out(`==> Linting ${path}\n${lines.map((line) => `${line}\n`).join('')}\n`);
      }
      const summary = `${paths.length} chart(s) linted, ${failed} chart(s) failed`;
      if (failed > 0) throw new CommandError(summary);
      if (!flags.quiet || hasComplaint) terminal.out(`${summary}\n`);
    });
  },
});

/** A version that is none is a mistake of who asks, not of the chart. */
function checkVersion(kubeVersion: string | undefined): void {
  if (kubeVersion !== undefined) new Capabilities({ kubeVersion });
}

function messageText({ severity, path, text }: LintMessage): string {
  return `[${severity}] ${path}: ${text}`;
}

/** What there is to say of a chart, or why nothing can be said of it. */
async function outcomeOf(path: string, shown: string, options: LintOptions): Promise<LintMessage[] | string> {
  const place = await stat(path).catch(() => undefined);
  const isChart = place && (!place.isDirectory() || (await stat(join(path, 'Chart.yaml')).catch(() => undefined)));
  const absent = `unable to check Chart.yaml file in chart: stat ${join(shown, 'Chart.yaml')}: no such file or directory`;
  if (!isChart) return absent;
  try {
    const files = await chartFiles(path);
    if (!files.some(({ name }) => name === 'Chart.yaml')) return absent;
    return await lintChart({ path, files, folders: await foldersIn(path) }, options);
  } catch (error) {
    if (!(error instanceof ChartError)) throw error;
    return place.isDirectory() ? error.message : `unable to extract tarball: ${error.message}`;
  }
}

/** Folders are no part of what is read of a chart, but that an empty one is there counts. */
async function foldersIn(path: string): Promise<ReadonlySet<string>> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return new Set(entries.filter((entry) => entry.isDirectory()).map(({ name }) => name));
}

/** Folders with a Chart.yaml and archives below a folder, in the order of their names. */
async function subcharts(cwd: string, folder: string): Promise<string[]> {
  const entries = await readdir(resolve(cwd, folder), { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await subcharts(cwd, path)));
    else if (entry.name === 'Chart.yaml') found.push(folder);
    else if (/\.(?:tgz|tar\.gz)$/.test(entry.name)) found.push(path);
  }
  return found;
}
