import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

import { HelmfileCache, loadHelmfile } from '../packages/charts/src/index.ts';
import { findOracle } from '../tools/oracles/index.ts';
import { ensureReferenceBinaries } from '../tools/reference-cluster/index.ts';
import { figure, publish, ratio } from './lib/report.ts';
import { median } from './lib/statistics.ts';

/** A helmfile of many releases, rendered by the helmfile command (which runs helm for each) and in process. */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, record: { type: 'boolean' } },
});
const rounds = Number(options.rounds);
const treeSize = 80;
const bar = 5;

const binaries = await ensureReferenceBinaries({ tools: ['helm'], build: false });
if (!binaries.available || !binaries.helm) throw new Error('helm is not built: npm run reference:build');
const { helm } = binaries;
const helmfile = await findOracle('helmfile');
if (!helmfile.available) throw new Error(helmfile.reason);
const program = helmfile.path;
const folder = await mkdtemp(join(tmpdir(), 'slipway-bench-'));

/** Layers of values as a platform has them: an environment, a template for each release, a chart with helpers. */
async function writeTree(): Promise<void> {
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

async function timed(work: () => unknown): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function inProcess(cache: HelmfileCache): Promise<void> {
  const loaded = await loadHelmfile({ cwd: folder, cache });
  for (const release of loaded.releases) await loaded.renderRelease(release);
}

function byHelmfile(): void {
  const env = { ...process.env, HOME: folder, PATH: `${dirname(helm!)}${delimiter}${process.env['PATH']}` };
  const { status, stderr } = spawnSync(program, ['--helm-binary', helm!, 'template', '--skip-deps'], {
    cwd: folder,
    env,
    maxBuffer: 1 << 30,
  });
  if (status !== 0) throw new Error(stderr.toString().slice(-500));
}

try {
  await writeTree();
  const cache = new HelmfileCache();
  const firstMs = await timed(async () => await inProcess(cache));
  const ours: number[] = [];
  const theirs: number[] = [];
  // In turn, so that both sides meet the same load.
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await timed(async () => await inProcess(cache)));
    theirs.push(await timed(byHelmfile));
  }
  const [oursMs, theirsMs] = [median(ours), median(theirs)];
  await publish({
    script: 'bench:helmfile',
    title: 'A helmfile of 80 releases',
    method: `Load the helmfile and render every release, median of ${rounds} rounds in turn. *First*: the very first time in a process, nothing compiled or cached.`,
    versions: { helmfile: helmfile.version },
    bars: [
      {
        text: `at least ${bar} times as fast as helmfile`,
        value: `${figure(theirsMs / oursMs)}×`,
        holds: theirsMs / oursMs >= bar,
      },
    ],
    tables: [
      {
        title: 'Time for the tree',
        columns: ['', 'time', 'ours / helmfile'],
        rows: [
          ['ours, in process', figure(oursMs, 'ms'), ratio(oursMs, theirsMs)],
          ['ours, first', figure(firstMs, 'ms'), ratio(firstMs, theirsMs)],
          ['helmfile', figure(theirsMs, 'ms'), ''],
        ],
      },
    ],
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}
