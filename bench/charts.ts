import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';

import { loadChart, renderChart, templateOutput } from '../packages/charts/src/index.ts';
import { pack } from '../tools/pack/pack.ts';
import { makeImageContent } from '../tools/bundle/image-size.ts';
import { findOracle } from '../tools/oracles/index.ts';
import { ensureReferenceBinaries } from '../tools/reference-cluster/index.ts';
import { measureTree } from './helmfile-tree.ts';
import { type Cost, costOfProgram, costOfWork, costText, inTurn, lookEveryMs } from './lib/cost.ts';
import { type Bar, figure, publish } from './lib/report.ts';

/**
 * One chart, rendered by a helm process, by a `slipway` process and in process, and a helmfile of many releases. A small chart
 * is written here; large ones come from the folder CHART_CORPUS names (the five that print most), and are left out without it.
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

/** Helm 3 believes in an old Kubernetes without a cluster, and large charts want a newer one. */
const kubeVersion = '1.34.0';
const flags = ['--include-crds', '--kube-version', kubeVersion];
const sources = join(import.meta.dirname, '..', 'packages', 'cli', 'src', 'main.ts');

async function byHelm(program: string, chart: string): Promise<Cost> {
  return await costOfProgram(program, ['template', 'shop', chart, ...flags]);
}

/** A fresh process of ours. Compiled code lies beside it, as in the image, or in the user's folder, from the second start on. */
async function byProcess(file: string, chart: string): Promise<Cost> {
  return await costOfProgram(process.execPath, [file, 'chart', 'template', 'shop', chart, ...flags], compiled);
}

const compiled = { env: { NODE_COMPILE_CACHE: join(content, 'compiled') } };

/** From the files on disk to the text, as an operator would do it again and again. */
async function inProcess(chart: string): Promise<Cost> {
  return await costOfWork(async () => {
    const rendered = await renderChart(await loadChart(chart), {
      release: { name: 'shop' },
      capabilities: { kubeVersion },
    });
    templateOutput(rendered, { includeCrds: true });
  });
}

/** The packages as npm would install them: ours packed, those of others as they are installed here. Answers the command's file. */
async function installPacked(): Promise<string> {
  const modules = join(folder, 'npm', 'node_modules');
  const installed = join(import.meta.dirname, '..', 'node_modules');
  await mkdir(join(modules, '@slipway'), { recursive: true });
  const packed = await pack(join(folder, 'packed'));
  const ours = new Set(['@slipway', ...packed.map(({ name }) => name)]);
  for (const name of await readdir(installed))
    if (!name.startsWith('.') && !ours.has(name)) await symlink(join(installed, name), join(modules, name));
  for (const each of packed) await cp(each.folder, join(modules, each.name), { recursive: true });
  const command = join(modules, 'slipway');
  const { bin } = JSON.parse(await readFile(join(command, 'package.json'), 'utf8')) as { bin: { slipway: string } };
  return join(command, bin.slipway);
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

try {
  const rows: string[][] = [];
  const bars: Bar[] = [];
  const bundled = join(content, 'slipway.mjs');
  const npm = await installPacked();
  const empty = join(folder, 'empty.mjs');
  await writeFile(empty, '');
  const [nothing, help] = (await inTurn(
    [
      () => costOfProgram(process.execPath, [empty]),
      () => costOfProgram(process.execPath, [bundled, 'chart', 'template', '--help'], compiled),
    ],
    rounds,
  )) as [Cost, Cost];
  const charts = [await smallChart(), ...(await largeCharts())];
  for (const [index, chart] of charts.entries()) {
    const first = await inProcess(chart);
    const [warm] = (await inTurn([() => inProcess(chart)], rounds * 4)) as [Cost];
    const [theirs, older, ours, packed, fromSources] = (await inTurn(
      [
        () => byHelm(helm!, chart),
        () => byHelm(helm3.path, chart),
        () => byProcess(bundled, chart),
        () => byProcess(npm, chart),
        () => byProcess(sources, chart),
      ],
      rounds,
    )) as [Cost, Cost, Cost, Cost, Cost];
    const factor = theirs.wallMs / warm.wallMs;
    rows.push([basename(chart), ...[theirs, older, ours, packed, fromSources, first, warm].map(costText)]);
    if (index === 0) {
      const text = `small chart warm: ${smallBar}× helm`;
      bars.push({ text, value: `${figure(factor)}×`, holds: factor >= smallBar });
      continue;
    }
    bars.push({
      text: `${basename(chart)} warm: not slower than helm`,
      value: `${figure(factor)}×`,
      holds: factor >= 1,
    });
    const parts = [
      `Node itself ${figure(nothing.wallMs)} ms`,
      `loading the command ${figure(help.wallMs - nothing.wallMs)}`,
      `the chart ${figure(ours.wallMs - help.wallMs)}`,
    ];
    for (const [name, cost] of [
      ['bundle', ours],
      ['npm package', packed],
    ] as const)
      bars.push({
        text: `${basename(chart)} in a fresh process of the ${name}: not slower than helm`,
        value: `${figure(theirs.wallMs / cost.wallMs)}×`,
        holds: theirs.wallMs >= cost.wallMs,
        ...(name === 'bundle' ? { why: `${parts.join(', ')}; helm ${figure(theirs.wallMs)}` } : {}),
      });
  }
  const tree = await measureTree({ helm, bundle: bundled, compiled, rounds: Math.ceil(rounds / 3) });
  bars.push(...tree.bars);
  await publish({
    script: 'bench:charts',
    title: 'Charts',
    method: `Median of ${rounds} rounds in turn. Each cell: wall time in ms / CPU time in ms, all threads / most memory in MB. The first five are fresh processes with compiled code kept from an earlier start; memory is looked at every ${lookEveryMs} ms in a turn that is not timed. "in process" reads the chart from disk, renders it and makes the text; its memory is that of the whole benchmark so far. The tree: ${tree.method}`,
    versions: {
      helm: spawnSync(helm, ['version', '--template', '{{.Version}}']).stdout.toString(),
      'helm 3': helm3.version,
      helmfile: tree.version,
    },
    tables: [
      {
        title: 'One chart',
        columns: [
          'chart',
          'helm 4',
          'helm 3',
          'slipway, bundle',
          'slipway, npm package',
          'slipway, sources',
          'in process, first',
          'in process, warm',
        ],
        rows,
      },
      tree.table,
      {
        title: 'The least a command takes',
        columns: ['process', 'wall / CPU / memory'],
        rows: [
          ['node, an empty module', costText(nothing)],
          ['slipway chart template --help, bundle', costText(help)],
        ],
      },
    ],
    bars,
    notes: process.env['CHART_CORPUS'] ? [] : ['CHART_CORPUS is not set: no large charts were measured.'],
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}
