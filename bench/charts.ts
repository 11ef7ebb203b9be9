import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';

import { loadChart, renderChart, templateOutput } from '../packages/charts/src/index.ts';
import { makeImageContent } from '../tools/bundle/image-size.ts';
import { findOracle } from '../tools/oracles/index.ts';
import { ensureReferenceBinaries } from '../tools/reference-cluster/index.ts';
import { type Bar, figure, publish } from './lib/report.ts';
import { median } from './lib/statistics.ts';

/**
 * One chart, rendered by a helm process, by a `slipway` process and in process. A small chart is written here; large ones
 * come from the folder CHART_CORPUS names (the five that print most), and are left out without it.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, record: { type: 'boolean' } },
});
const rounds = Number(options.rounds);
const smallBar = 20;

const binaries = await ensureReferenceBinaries({ tools: ['helm'], build: false });
if (!binaries.available || !binaries.helm) throw new Error('helm is not built: npm run reference:build');
const { helm } = binaries;
const helm3 = await findOracle('helm3');
if (!helm3.available) throw new Error(helm3.reason);
const folder = await mkdtemp(join(tmpdir(), 'slipway-bench-'));
const content = join(folder, 'dist');
await makeImageContent(content);

function timeProcess(command: string, args: readonly string[], env: Record<string, string> = {}): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(command, args, { maxBuffer: 1 << 30, env: { ...process.env, ...env } });
  const wallMs = performance.now() - started;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr.toString().slice(-500)}`);
  return wallMs;
}

/** Helm 3 believes in an old Kubernetes without a cluster, and large charts want a newer one. */
const kubeVersion = '1.34.0';
const flags = ['--include-crds', '--kube-version', kubeVersion];
const sources = join(import.meta.dirname, '..', 'packages', 'cli', 'src', 'main.ts');

function byHelm(program: string, chart: string): number {
  return timeProcess(program, ['template', 'shop', chart, ...flags]);
}

/** A fresh process of ours; compiled code lies beside it, as in the image and from the second start on. */
function byProcess(file: string, chart: string): number {
  return timeProcess(process.execPath, [file, 'chart', 'template', 'shop', chart, ...flags], {
    NODE_COMPILE_CACHE: join(content, 'compiled'),
  });
}

/** From the files on disk to the text, as an operator would do it again and again. */
async function inProcess(chart: string): Promise<number> {
  const started = performance.now();
  const rendered = await renderChart(await loadChart(chart), {
    release: { name: 'shop' },
    capabilities: { kubeVersion },
  });
  templateOutput(rendered, { includeCrds: true });
  return performance.now() - started;
}

async function smallChart(): Promise<string> {
  const chart = join(folder, 'small');
  await mkdir(join(chart, 'templates'), { recursive: true });
  const object = (kind: string) =>
    `apiVersion: v1\nkind: ${kind}\nmetadata:\n  name: {{ include "small.name" . }}\n  labels: {{- toYaml .Values.labels | nindent 4 }}\nspec: {{- toYaml .Values.spec | nindent 2 }}\n`;
  await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: small\nversion: 1.0.0\n');
  await writeFile(
    join(chart, 'values.yaml'),
    'labels: {app: small, tier: web}\nspec: {replicas: 2, ports: [{port: 80}]}\n',
  );
  await writeFile(
    join(chart, 'templates', '_helpers.tpl'),
    '{{ define "small.name" }}{{ .Release.Name | trunc 63 }}{{ end }}',
  );
  for (const kind of ['ServiceAccount', 'Service', 'Deployment', 'Ingress'])
    await writeFile(join(chart, 'templates', `${kind.toLowerCase()}.yaml`), object(kind));
  return chart;
}

async function largeCharts(): Promise<string[]> {
  const corpus = process.env['CHART_CORPUS'];
  if (!corpus) return [];
  const found: { path: string; size: number }[] = [];
  const walk = async (path: string): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true });
    if (!entries.some(({ name }) => name === 'Chart.yaml')) {
      for (const entry of entries) if (entry.isDirectory()) await walk(join(path, entry.name));
      return;
    }
    const { status, stdout } = spawnSync(helm!, ['template', 'shop', path, ...flags], { maxBuffer: 1 << 30 });
    if (status === 0) found.push({ path, size: stdout.length });
  };
  await walk(corpus);
  return found
    .sort((a, b) => b.size - a.size)
    .slice(0, 5)
    .map(({ path }) => path);
}

/** Medians of runs in turn, so that all meet the same load. The first turn is not counted: it fills caches. */
async function inTurn(runs: readonly (() => number | Promise<number>)[], times = rounds): Promise<number[]> {
  const walls = runs.map((): number[] => []);
  for (let round = 0; round <= times; round += 1) {
    for (const [index, run] of runs.entries()) {
      const wall = await run();
      if (round > 0) walls[index]!.push(wall);
    }
  }
  return walls.map(median);
}

try {
  const rows: string[][] = [];
  const bars: Bar[] = [];
  const charts = [await smallChart(), ...(await largeCharts())];
  for (const [index, chart] of charts.entries()) {
    const first = await inProcess(chart);
    const [warm] = (await inTurn([() => inProcess(chart)], rounds * 4)) as [number];
    const [theirs, older, process_, fromSources] = (await inTurn([
      () => byHelm(helm!, chart),
      () => byHelm(helm3.path, chart),
      () => byProcess(join(content, 'slipway.mjs'), chart),
      () => byProcess(sources, chart),
    ])) as [number, number, number, number];
    const factor = theirs / warm;
    const figures = [theirs, older, process_, fromSources, first, warm].map((ms) => figure(ms));
    rows.push([basename(chart), ...figures, `${figure(theirs / process_)}×`, `${figure(factor)}×`]);
    if (index === 0)
      bars.push({
        text: `small chart warm: ${smallBar}× helm`,
        value: `${figure(factor)}×`,
        holds: factor >= smallBar,
      });
    else
      bars.push({
        text: `${basename(chart)} warm: not slower than helm`,
        value: `${figure(factor)}×`,
        holds: factor >= 1,
      });
    if (index > 0)
      bars.push({
        text: `${basename(chart)} in a fresh process of the bundle: not slower than helm`,
        value: `${figure(theirs / process_)}×`,
        holds: theirs >= process_,
        why: 'starting Node and running code that no compiler has optimised yet takes longer than Helm needs',
      });
  }
  await publish({
    script: 'bench:charts',
    title: 'Charts',
    method: `Median of ${rounds} rounds in turn, milliseconds of wall time. The first four are fresh processes. "in process" reads the chart from disk, renders it and makes the text.`,
    versions: {
      helm: spawnSync(helm, ['version', '--template', '{{.Version}}']).stdout.toString(),
      'helm 3': helm3.version,
    },
    tables: [
      {
        title: 'One chart',
        columns: [
          'chart',
          'helm 4',
          'helm 3',
          'slipway, bundle',
          'slipway, sources',
          'in process, first',
          'in process, warm',
          'bundle to helm 4',
          'warm to helm 4',
        ],
        rows,
      },
    ],
    bars,
    notes: process.env['CHART_CORPUS'] ? [] : ['CHART_CORPUS is not set: no large charts were measured.'],
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}
