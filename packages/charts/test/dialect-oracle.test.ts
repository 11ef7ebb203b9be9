import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { oracleInLane } from '@slipway/oracles';
import { ensureReferenceBinaries } from '@slipway/reference-cluster';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { dialects, type Dialect, type DialectSwitches } from '../src/chart/dialect.ts';
import { loadChart, readValuesText, renderChart, templateOutput } from '../src/index.ts';

/** Every row of the table of dialects, asked of the Helm it is about. */
const inLane = process.env['SLIPWAY_CLUSTER'] === 'reference';
const binaries = inLane ? await ensureReferenceBinaries({ tools: ['helm'], build: false }) : undefined;
const helm3 = await oracleInLane('helm3');
const programs: Partial<Record<Dialect, string>> = {
  ...(binaries?.available && binaries.helm ? { helm4: binaries.helm } : {}),
  ...(helm3.available ? { helm3: helm3.path } : {}),
};
if (!inLane) process.stdout.write('SKIPPED dialects against Helm 3 and 4: npm run test:reference runs them\n');
for (const dialect of ['helm3', 'helm4'] as const)
  if (inLane && !programs[dialect]) process.stdout.write(`SKIPPED dialect ${dialect}: its helm is not built\n`);

interface Row {
  readonly about: keyof DialectSwitches;
  /** What lies in the chart besides Chart.yaml. */
  readonly files: Readonly<Record<string, string>>;
  /** What the user gives. */
  readonly values?: string;
}

const template = (text: string) => ({ 'templates/a.yaml': `kind: Probe\ndata: |\n  ${text}\n` });
const object = (kind: string) => `apiVersion: v1\nkind: ${kind}\nmetadata: {name: x}\n`;

const rows: readonly Row[] = [
  { about: 'chartIsMap', files: template('{{ .Chart.Nonsense }}') },
  { about: 'chartIsMap', files: template('{{ (index .Chart.Maintainers 0).Phone }}') },
  {
    about: 'chartIsMap',
    files: template('{{ (index .Chart.Maintainers 0).Name }} {{ .Chart.AppVersion }} {{ .Chart.IsRoot }}'),
  },
  { about: 'chartIsMap', files: template('{{ toJson .Chart }}') },
  { about: 'chartIsMap', files: template('{{ toYaml .Chart | nindent 2 }}') },
  {
    about: 'chartIsMap',
    files: {
      ...template('{{ toJson .Chart.Dependencies }} {{ toJson .Chart.Maintainers }} {{ toJson .Chart.Sources }}'),
      'Chart.yaml':
        'apiVersion: v2\nname: probe\nversion: 1.0.0\nmaintainers: [{name: me}]\ndependencies: [{name: sub, tags: [x], import-values: [y]}]\n',
      'charts/sub/Chart.yaml': 'apiVersion: v2\nname: sub\nversion: 1.0.0\n',
      'charts/sub/templates/s.yaml':
        'kind: Probe\ndata: |\n  {{ toJson .Chart.Dependencies }} {{ printf "%T" .Chart.Keywords }}\n',
    },
  },
  { about: 'chartIsMap', files: template('{{ kindOf .Chart }} {{ .Chart.Type | default "none" }}') },
  ...[
    'mustToYaml .Values',
    'mustToToml .Values',
    'mustToJson .Values',
    'durationSeconds "90s"',
    'durationRoundTo "90s" "1m"',
  ].map((call): Row => ({ about: 'lacksFunctions', files: template(`{{ ${call} }}`) })),
  {
    about: 'valuesDocuments',
    files: { ...template('{{ toJson .Values }}'), 'values.yaml': 'a: 1\nb: {c: 2}\n---\nb: {d: 3}\n---\na: 4\n' },
  },
  { about: 'valuesDocuments', files: { ...template('{{ toJson .Values }}'), 'values.yaml': '---\na: 1\n' } },
  { about: 'valuesType', files: template('{{ typeOf .Values }} {{ typeOf .Template }}') },
  {
    about: 'webhooksInOrder',
    files: {
      'templates/a.yaml': object('ValidatingWebhookConfiguration'),
      'templates/b.yaml': object('MutatingWebhookConfiguration'),
      'templates/c.yaml': object('Zebra'),
      'templates/d.yaml': object('APIService'),
      'templates/e.yaml': object('Aardvark'),
    },
  },
  { about: 'documentSeparator', files: { 'templates/a.yaml': 'a: 1\n\n\n---\n\n\nb: 2\n---\n---\nc: 3\n' } },
  { about: 'documentSeparator', files: { 'templates/a.yaml': 'a: |\n  x\n  ---\n  y\n--- # said\nb: 2\n---c: 3\n' } },
  {
    about: 'trimsDocuments',
    files: { 'templates/a.yaml': 'a: 1\n\n\n---\nb: 2\n  \n\n', 'templates/b.yaml': '\n\nc: 3\n\n\n' },
  },
  {
    about: 'dropsDefaultNulls',
    files: { ...template('{{ toJson .Values }}'), 'values.yaml': 'a: null\nb: {c: null, d: {e: null}}\n' },
  },
  {
    about: 'dropsDefaultNulls',
    files: { ...template('{{ toJson .Values }}'), 'values.yaml': 'b: {c: null, d: {e: null}, g: 1}\nh: 2\n' },
    values: 'b: {f: 1, g: null}\nh: null\ni: null\n',
  },
  {
    about: 'dropsDefaultNulls',
    files: {
      ...template('{{ toJson .Values }}'),
      'values.yaml': 'global: {x: null, y: 1}\nsub: {c: null}\n',
      'charts/sub/Chart.yaml': 'apiVersion: v2\nname: sub\nversion: 1.0.0\n',
      'charts/sub/values.yaml': 'c: 1\nd: null\nglobal: {x: 2}\n',
      'charts/sub/templates/s.yaml': 'kind: Probe\ndata: |\n  {{ toJson .Values }}\n',
    },
  },
  { about: 'helmVersion', files: template('{{ .Capabilities.HelmVersion.Version }}') },
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-dialect-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function writeChart(index: number, { files, values }: Row): Promise<string> {
  const chart = join(folder, String(index));
  const all = {
    'Chart.yaml':
      'apiVersion: v2\nname: probe\nversion: 1.0.0\nappVersion: "2"\nmaintainers: [{name: me, url: x}]\nkeywords: [a, b]\n',
    'values.yaml': '{}\n',
    '../given.yaml': values ?? '{}\n',
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(chart, name)), { recursive: true });
    await writeFile(join(chart, name), text);
  }
  return chart;
}

async function byHelm(dialect: Dialect, chart: string): Promise<string> {
  const args = ['template', 'rel', chart, '-f', join(folder, 'given.yaml')];
  return await promisify(execFile)(programs[dialect]!, args, { env: { HOME: folder } }).then(
    ({ stdout }) => stdout,
    () => 'refused',
  );
}

async function byUs(dialect: Dialect, chart: string, values = '{}'): Promise<string> {
  return await renderChart(await loadChart(chart), {
    dialect,
    release: { name: 'rel' },
    values: readValuesText(values),
  }).then(
    (rendered) => templateOutput(rendered, { dialect }),
    () => 'refused',
  );
}

describe.runIf(inLane)('a dialect', { timeout: 300_000 }, () => {
  for (const [index, row] of rows.entries()) {
    for (const dialect of ['helm3', 'helm4'] as const) {
      it.runIf(programs[dialect])(`${dialect} does as Helm does: ${row.about}, row ${index + 1}`, async () => {
        const chart = await writeChart(index, row);
        expect(await byUs(dialect, chart, row.values)).toBe(await byHelm(dialect, chart));
      });
    }
  }
});

it('every switch is asked about, and each makes the dialects differ', async () => {
  expect(new Set(rows.map(({ about }) => about))).toEqual(new Set(Object.keys(dialects.helm4)));
  const differ = new Set<string>();
  for (const [index, row] of rows.entries()) {
    const chart = await writeChart(index, row);
    if ((await byUs('helm3', chart, row.values)) !== (await byUs('helm4', chart, row.values))) differ.add(row.about);
  }
  expect(differ).toEqual(new Set(Object.keys(dialects.helm4)));
});
