import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

import { HelmfileCache, loadHelmfile } from '../packages/charts/src/index.ts';
import { findOracle } from '../tools/oracles/index.ts';
import { type Cost, costOfProgram, costOfWork, costText, inTurn, type ProgramOptions } from './lib/cost.ts';
import { type Bar, figure, type Table } from './lib/report.ts';

const treeSize = 80;
const bar = 5;

export interface TreeOptions {
  /** The helm program helmfile is to run. */
  readonly helm: string;
  /** The bundled `slipway`, and how it is started. */
  readonly bundle: string;
  readonly compiled: ProgramOptions;
  readonly rounds: number;
}

export interface TreeResult {
  readonly method: string;
  /** Of helmfile. */
  readonly version: string;
  readonly table: Table;
  readonly bars: readonly Bar[];
}

/** A helmfile of many releases: rendered in process, by a fresh process of ours, and by helmfile, which runs helm for each. */
export async function measureTree({ helm, bundle, compiled, rounds }: TreeOptions): Promise<TreeResult> {
  const helmfile = await findOracle('helmfile');
  if (!helmfile.available) throw new Error(helmfile.reason);
  const cwd = await mkdtemp(join(tmpdir(), 'slipway-bench-'));
  try {
    await writeTree(cwd);
    const cache = new HelmfileCache();
    const inProcess = async (): Promise<Cost> =>
      await costOfWork(async () => {
        const loaded = await loadHelmfile({ cwd, cache });
        for (const release of loaded.releases) await loaded.renderRelease(release);
      });
    const env = { HOME: cwd, PATH: `${dirname(helm)}${delimiter}${process.env['PATH']}` };
    const flags = ['--helm-binary', helm, 'template', '--skip-deps'];
    const first = await inProcess();
    const [warm, fresh, theirs] = (await inTurn(
      [
        inProcess,
        () => costOfProgram(process.execPath, [bundle, 'helmfile', 'template'], { ...compiled, cwd }),
        () => costOfProgram(helmfile.path, flags, { env, cwd }),
      ],
      rounds,
    )) as [Cost, Cost, Cost];
    const barFor = (what: string, cost: Cost): Bar => ({
      text: `${treeSize} releases ${what}: ${bar}× helmfile`,
      value: `${figure(theirs.wallMs / cost.wallMs)}×`,
      holds: theirs.wallMs / cost.wallMs >= bar,
    });
    return {
      method: `load a helmfile of ${treeSize} releases and render each, ${rounds} rounds in turn; memory of helmfile is with the helm processes it has at the same time.`,
      version: helmfile.version,
      table: {
        title: `A helmfile of ${treeSize} releases`,
        columns: ['', 'wall / CPU / memory'],
        rows: [
          ['helmfile with helm 4', costText(theirs)],
          ['slipway, bundle', costText(fresh)],
          ['in process, first', costText(first)],
          ['in process, warm', costText(warm)],
        ],
      },
      bars: [barFor('warm', warm), barFor('in a fresh process of the bundle', fresh)],
    };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/** Layers of values as a platform has them: an environment, a template for each release, a chart with helpers. */
async function writeTree(folder: string): Promise<void> {
  const releases = Array.from(
    { length: treeSize },
    (_, index) => `  - name: app-${index}\n    namespace: team-${index % 10}\n    <<: *default\n`,
  );
  const files = {
    'values/common.yaml': 'domain: example.com\nteams: [a, b, c]\n',
    'values/app.gotmpl': `replicas: {{ if eq .Release.Namespace "team-0" }}3{{ else }}1{{ end }}
image: registry.{{ .Values.domain }}/{{ .Release.Name }}
extra: { DOMAIN: {{ .Values.domain | quote }}, TEAMS: {{ .Values.teams | join "," | quote }} }
`,
    'helmfile.yaml.gotmpl': `environments:
  default:
    values: [values/common.yaml]
---
templates:
  default: &default
    chart: ./charts/small
    labels: { app: core }
    values: [values/app.gotmpl]
releases:
${releases.join('')}`,
    'charts/small/Chart.yaml': 'apiVersion: v2\nname: small\nversion: 1.0.0\n',
    'charts/small/values.yaml': 'replicas: 2\nimage: web\nextra: {}\n',
    'charts/small/templates/_helpers.tpl':
      '{{- define "small.labels" -}}\napp: {{ .Release.Name | trunc 63 }}\nchart: {{ .Chart.Name }}\n{{- end -}}\n',
    'charts/small/templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels: {{- include "small.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  selector: { matchLabels: { app: {{ .Release.Name }} } }
  template:
    metadata: { labels: { app: {{ .Release.Name }} } }
    spec:
      containers:
        - name: web
          image: {{ .Values.image }}
          env:
          {{- range $name, $value := .Values.extra }}
            - { name: {{ $name | quote }}, value: {{ $value | quote }} }
          {{- end }}
`,
    'charts/small/templates/config.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  values: {{ toJson .Values | quote }}\n',
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}
