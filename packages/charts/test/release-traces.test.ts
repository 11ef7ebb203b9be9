import { gunzipSync } from 'node:zlib';
import {
  ClusterRole,
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  type KubeObject,
  Namespace,
  Secret,
  Service,
} from '@slipway/kube';
import { findOracle } from '@slipway/oracles';
import { onReference, skipped } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  type Chart,
  installRelease,
  rollbackRelease,
  uninstallRelease,
  type UpgradeOptions,
  upgradeRelease,
} from '../src/index.ts';
import { type BenchChart, type HelmBench, openHelmBench } from './helm-bench.ts';

const without = skipped(
  !onReference,
  'what releases leave behind, beside what the helm commands alone leave: needs the real API server',
);
const helm3 = await findOracle('helm3');
const withoutHelm3 = skipped(
  onReference && !helm3.available,
  `traces of releases shared with helm 3: ${helm3.available ? '' : helm3.reason}`,
);

const hook = (name: string, kind: string, annotations: Record<string, string>) =>
  `apiVersion: v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n  annotations: ${JSON.stringify(
    Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`helm.sh/${key}`, value])),
  )}\n`;
const around = 'pre-install,pre-upgrade,pre-rollback,post-install,post-upgrade,post-rollback';

/** Something of everything a release can leave behind. */
const files = {
  'Chart.yaml': `apiVersion: v2
name: shop
version: 1.0.0
appVersion: "2"
description: a <shop> & more
dependencies:
  - { name: inner, version: 1.0.0, alias: near, import-values: [shared, { child: own, parent: table.own }] }
  - { name: inner, version: 1.0.0, alias: off, condition: off.on }
`,
  'charts/inner/Chart.yaml': 'apiVersion: v2\nname: inner\nversion: 1.0.0\n',
  'charts/inner/values.yaml': 'exports: {shared: {said: true}}\nown: {a: 1}\n',
  'values.yaml':
    'off: {on: false}\ngreeting: hello\nextra: true\nkept: true\nweb: true\ntype: Opaque\ntable: {a: 1, b: {c: 2, d: [1]}, old: yes}\n',
  'templates/config.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: config
  labels: { tier: shop }
data:
  greeting: {{ .Values.greeting | quote }}
  table: {{ .Values.table | toJson | quote }}
  revision: {{ .Release.Revision | quote }}
{{- if .Values.extra }}
  extra: "yes"
{{- end }}
`,
  'templates/extra.yaml':
    '{{ if .Values.extra }}\napiVersion: v1\nkind: Secret\nmetadata: {name: extra}\nstringData: {a: b}\n{{ end }}\n',
  'templates/added.yaml': '{{ if .Values.added }}\napiVersion: v1\nkind: Secret\nmetadata: {name: added}\n{{ end }}\n',
  // The type of a Secret cannot be changed.
  'templates/sealed.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: sealed}\ntype: {{ .Values.type }}\n',
  'templates/kept.yaml':
    '{{ if .Values.kept }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}\n{{ end }}\n',
  // Helm makes the objects of one kind at the same time: this one is of another, so that all before it are there.
  'templates/broken.yaml':
    '{{ if .Values.broken }}\napiVersion: v1\nkind: Service\nmetadata: {name: "Not A Name"}\nspec: {ports: [{port: 80}]}\n{{ end }}\n',
  'templates/web.yaml': `{{- if .Values.web }}
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ name: http, port: 80 }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web }, annotations: { greeting: {{ .Values.greeting }} } }
    spec: { containers: [{ name: web, image: "web:1", env: [{ name: A, value: b }] }] }
{{- end }}
`,
  'templates/far.yaml': `{{- if .Values.far }}
apiVersion: v1
kind: ConfigMap
metadata: { name: "{{ .Release.Namespace }}-far", namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: "{{ .Release.Namespace }}-far" }
rules: [{ apiGroups: [""], resources: [pods], verbs: [get] }]
{{- end }}
`,
  'templates/turning.yaml':
    '{{ with .Values.turning }}\napiVersion: v1\nkind: {{ . }}\nmetadata: {name: turning}\n{{ end }}\n',
  'templates/scaler.yaml': `{{- with .Values.scaler }}
apiVersion: autoscaling/{{ . }}
kind: HorizontalPodAutoscaler
metadata: { name: scaler }
spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web } }
{{- end }}
`,
  'templates/twice.yaml': `{{- range until (int .Values.times) }}
---
apiVersion: v1
kind: ConfigMap
metadata: { name: twice }
data: { time: "{{ . }}" }
{{- end }}
`,
  'templates/list.yaml': `{{- if .Values.list }}
apiVersion: v1
kind: List
items:
  - { apiVersion: v1, kind: ConfigMap, metadata: { name: first } }
  - { apiVersion: v1, kind: Secret, metadata: { name: second } }
{{- end }}
`,
  'templates/nameless.yaml':
    '{{ if .Values.nameless }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: made-}\n{{ end }}\n',
  'templates/NOTES.txt': 'Say {{ .Values.greeting }}.\n',
  // Names, kinds and weights that each order tells apart.
  'templates/hooks/order.yaml': [
    hook('a-hook', 'Secret', { hook: around }),
    hook('b-hook', 'ConfigMap', { hook: around }),
    hook('c-last', 'ConfigMap', { hook: around, 'hook-weight': '5' }),
    hook('d-first', 'Secret', { hook: around, 'hook-weight': '-5', 'hook-delete-policy': 'before-hook-creation' }),
    hook('gone', 'ConfigMap', { hook: around, 'hook-weight': '1', 'hook-delete-policy': 'hook-succeeded' }),
    hook('leaving', 'ConfigMap', { hook: 'pre-delete,post-delete' }),
  ].join('---\n'),
  'templates/hooks/broken.yaml': `{{ with .Values.brokenHook }}\n${hook('"Not A Name"', 'ConfigMap', { hook: '{{ . }}', 'hook-weight': '2' })}{{ end }}\n`,
};

/** The next version, with other defaults. */
const nextFiles = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 2.0.0\nappVersion: "3"\n',
  'values.yaml': `${files['values.yaml'].replace(/table: .*/, 'table: {a: 2, b: {c: 3, d: [2, 3], e: 4}, new: yes}')}news: true\n`,
};

/** What a step is told beside the release, in the words of our functions. */
interface Work {
  readonly values?: Readonly<Record<string, unknown>>;
  readonly valuesFrom?: Exclude<UpgradeOptions['valuesFrom'], undefined>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly description?: string;
  readonly historyMax?: number;
  readonly install?: boolean;
  readonly createNamespace?: boolean;
  readonly takeOwnership?: boolean;
  readonly forceConflicts?: boolean;
  /** The next version of the chart, which has other defaults. */
  readonly next?: boolean;
  readonly rollbackOnFailure?: boolean;
  readonly cleanupOnFail?: boolean;
  readonly replace?: boolean;
  readonly keepHistory?: boolean;
  readonly skipHooks?: boolean;
}

function helmFlags({
  values = {},
  valuesFrom = 'default',
  labels = {},
  description,
  historyMax,
  next: _next,
  ...switches
}: Work): string[] {
  const words = {
    install: '--install',
    createNamespace: '--create-namespace',
    takeOwnership: '--take-ownership',
    forceConflicts: '--force-conflicts',
    rollbackOnFailure: '--rollback-on-failure',
    cleanupOnFail: '--cleanup-on-fail',
    replace: '--replace',
    keepHistory: '--keep-history',
    skipHooks: '--no-hooks',
  };
  return [
    ...Object.entries(values).map(([key, value]) => `--set-json=${key}=${JSON.stringify(value)}`),
    ...Object.entries(labels).map(([key, value]) => `--labels=${key}=${value}`),
    ...(valuesFrom === 'default' ? [] : [`--${valuesFrom}-values`]),
    ...(description === undefined ? [] : [`--description=${description}`]),
    ...(historyMax === undefined ? [] : [`--history-max=${historyMax}`]),
    ...Object.keys(switches).map((key) => words[key as keyof typeof words]),
  ];
}

/** Whoever works on the release `shop`. */
interface Hand {
  install(namespace: string, work?: Work): Promise<unknown>;
  upgrade(namespace: string, work: Work): Promise<unknown>;
  rollback(namespace: string, revision: number): Promise<unknown>;
  uninstall(namespace: string, work?: Work): Promise<unknown>;
}

type HandName = 'ours' | 'helm 3' | 'helm 4';
type Step = (hand: Hand, namespace: string) => Promise<unknown>;

/** Who installs, upgrades, rolls back and uninstalls: at any two of these steps every two hands meet. */
const rounds: readonly (readonly [HandName, HandName, HandName, HandName])[] = [
  ['ours', 'ours', 'ours', 'ours'],
  ['ours', 'helm 3', 'helm 3', 'helm 3'],
  ['ours', 'helm 4', 'helm 4', 'helm 4'],
  ['helm 3', 'ours', 'helm 3', 'helm 4'],
  ['helm 3', 'helm 3', 'helm 4', 'ours'],
  ['helm 3', 'helm 4', 'ours', 'helm 3'],
  ['helm 4', 'ours', 'helm 4', 'helm 3'],
  ['helm 4', 'helm 3', 'ours', 'helm 4'],
  ['helm 4', 'helm 4', 'helm 3', 'ours'],
];

/** Ours alone, and ours after a helm at each of the steps. */
const sample = [0, 3, 7, 8];
const sampled = skipped(
  onReference && process.env['SLIPWAY_SWEEP'] !== 'full',
  `traces of releases: ${rounds.length - sample.length} of ${rounds.length} orders of hands; needs SLIPWAY_SWEEP=full`,
);

describe.skipIf(without)(
  'a release leaves behind what the helm commands alone would, also when something fails',
  { timeout: 300_000 },
  () => {
    let bench: HelmBench;
    let nextChart: BenchChart;
    const hands = {} as Record<HandName, Hand>;
    /** Does what ours does: it writes server-side whoever came before, and Helm 4 does so to a release of Helm 3 when it is told. */
    let standIn: Hand;
    const name = 'shop';

    function handOf(program: string, serverSide: readonly string[] = []): Hand {
      const pathOf = ({ next }: Work): string => (next ? nextChart : bench).chartFolder;
      const run = async (namespace: string, ...args: string[]) =>
        await bench.helm(program, ...args, '--namespace', namespace);
      return {
        install: async (namespace, work = {}) =>
          await run(namespace, 'install', name, pathOf(work), ...helmFlags(work)),
        upgrade: async (namespace, work) =>
          await run(namespace, 'upgrade', name, pathOf(work), ...serverSide, ...helmFlags(work)),
        rollback: async (namespace, revision) =>
          await run(namespace, 'rollback', name, String(revision), ...serverSide),
        uninstall: async (namespace, work = {}) => await run(namespace, 'uninstall', name, ...helmFlags(work)),
      };
    }

    beforeAll(async () => {
      bench = await openHelmBench(files);
      nextChart = await bench.addChart({ ...files, ...nextFiles });
      const { context } = bench;
      const chartOf = ({ next }: Work): Chart => (next ? nextChart : bench).chart;
      hands.ours = {
        install: async (namespace, work = {}) =>
          await installRelease(context, chartOf(work), { name, namespace, ...work }),
        upgrade: async (namespace, work) => await upgradeRelease(context, chartOf(work), { name, namespace, ...work }),
        rollback: async (namespace, revision) => await rollbackRelease(context, { name, namespace, revision }),
        uninstall: async (namespace, work) => await uninstallRelease(context, { name, namespace, ...work }),
      };
      hands['helm 4'] = handOf(bench.helm4);
      standIn = handOf(bench.helm4, ['--server-side=true']);
      if (helm3.available) hands['helm 3'] = handOf(helm3.path);
    });
    afterAll(async () => await bench?.[Symbol.asyncDispose]());

    let namespaces = 0;
    async function makeNamespace(): Promise<string> {
      const namespace = `traces-${(namespaces += 1)}`;
      await bench.client.create({ apiVersion: 'v1', kind: Namespace.kind, metadata: { name: namespace } });
      return namespace;
    }

    /** Everything in a namespace that is not a matter of time or place. */
    async function traces(namespace: string): Promise<unknown> {
      const objects: KubeObject[] = [];
      for (const kind of [ConfigMap, Secret, Service, Deployment, HorizontalPodAutoscaler])
        for await (const each of bench.client.list(kind, { namespace })) objects.push(each as KubeObject);
      const elsewhere = { namespace: 'default', name: `${namespace}-far` };
      const far = [
        await bench.client.get(ConfigMap, elsewhere),
        await bench.client.get(ClusterRole, { name: elsewhere.name }),
        await bench.client.get(Namespace, { name: namespace }),
      ];
      for (const each of far) if (each !== undefined) objects.push(each as KubeObject);
      const own = objects.filter((each) => each.metadata.name !== 'kube-root-ca.crt');
      const isRecord = (each: KubeObject) => each['type'] === 'helm.sh/release.v1';
      const hooks = own
        .filter((each) => each.metadata.annotations?.['helm.sh/hook'] !== undefined)
        .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map((each) => each.metadata.name);
      const found = {
        objects: Object.fromEntries(
          own.filter((each) => !isRecord(each)).map((each) => [`${each.kind} ${each.metadata.name}`, traceOf(each)]),
        ),
        hooks,
        records: Object.fromEntries(own.filter(isRecord).map((each) => [each.metadata.name, recordOf(each)])),
      };
      return JSON.parse(JSON.stringify(found).replaceAll(namespace, 'the namespace')) as unknown;
    }

    /** In one namespace the hands that are named, in the other Helm alone. What is refused to one is to be refused to both. */
    async function compare(steps: readonly (readonly [HandName, Step])[]): Promise<readonly [string, string]> {
      const places = [await makeNamespace(), await makeNamespace()] as const;
      for (const [index, [hand, step]] of steps.entries()) {
        const alone = hand === 'ours' ? standIn : hands[hand];
        const refused = await Promise.all([
          didFail(async () => await step(hands[hand], places[0])),
          didFail(async () => await step(alone, places[1])),
        ]);
        expect({ step: index, refused: refused[0] }).toEqual({ step: index, refused: refused[1] });
        expect({ step: index, traces: await traces(places[0]) }).toEqual({
          step: index,
          traces: await traces(places[1]),
        });
      }
      return places;
    }

    const bye = { greeting: 'bye', extra: false, kept: false };
    const install =
      (work?: Work): Step =>
      async (hand, namespace) =>
        await hand.install(namespace, work);
    const upgrade =
      (values: Work['values'], work?: Work): Step =>
      async (hand, namespace) =>
        await hand.upgrade(namespace, { values, ...work });
    const rollback =
      (revision: number): Step =>
      async (hand, namespace) =>
        await hand.rollback(namespace, revision);
    const uninstall =
      (work?: Work): Step =>
      async (hand, namespace) =>
        await hand.uninstall(namespace, work);

    test.each(sampled ? sample.map((index) => rounds[index]!) : rounds)(
      '%s installs, %s upgrades, %s rolls back, %s uninstalls',
      async (...round) => {
        if (withoutHelm3 && round.includes('helm 3')) return;
        const works = [install(), upgrade(bye), rollback(1), uninstall()];
        await compare(works.map((work, index) => [round[index]!, work]));
      },
    );

    /** There is no Deployment in them: without its controller it is never ready, and undoing waits. */
    const noWeb = { web: false };
    /** Values of the first chart and of the user, then of the next chart: each change, null, and nothing at all. */
    const valueChain = (valuesFrom: Exclude<Work['valuesFrom'], undefined>): Step[] => [
      install({ values: { ...noWeb, greeting: 'mine', table: { a: 5, b: { c: 6 }, own: { x: 1 }, old: null } } }),
      upgrade({ table: { b: null, own: { y: 2 } }, web: false }, { valuesFrom, next: true }),
      upgrade({ table: { a: null, own: null, b: { d: [9] } }, web: false }, { valuesFrom, next: true }),
      upgrade({ table: null, greeting: null, web: false }, { valuesFrom }),
      upgrade({}, { valuesFrom, next: true }),
    ];
    /** Made by somebody else, with other contents. */
    const strange: Step = async (_, namespace) =>
      await bench.client.create(
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { namespace, name: 'config' },
          data: { greeting: 'mine', more: 'x' },
        } as KubeObject,
        { fieldManager: 'somebody' },
      );
    const chains: Record<string, readonly Step[]> = {
      'an upgrade that is refused cleans up what it made, and the next one goes on': [
        install({ values: noWeb }),
        upgrade({ ...noWeb, kept: false }),
        upgrade({ ...noWeb, added: true, broken: true }, { cleanupOnFail: true }),
        upgrade({ ...noWeb, ...bye }),
        uninstall(),
      ],
      'what cannot be updated does not keep the rest from it': [
        install({ values: noWeb }),
        upgrade({ ...noWeb, ...bye, type: 'other' }),
        rollback(1),
        uninstall(),
      ],
      'a hook that is refused leaves those before it alone': [
        install({ values: noWeb }),
        upgrade({ ...noWeb, brokenHook: 'pre-upgrade' }),
        upgrade({ ...noWeb, brokenHook: 'pre-delete' }),
        uninstall(),
        uninstall({ skipHooks: true }),
      ],
      'an installation and an upgrade that fail are undone, with all they made': [
        install({ values: { ...noWeb, broken: true }, rollbackOnFailure: true }),
        install({ values: noWeb }),
        upgrade({ ...noWeb, added: true, broken: true }, { rollbackOnFailure: true }),
        uninstall(),
      ],
      'a history is kept short, but for what undoes an upgrade': [
        install({ values: noWeb }),
        ...['one', 'two', 'three'].map((greeting) => upgrade({ ...noWeb, greeting }, { historyMax: 2 })),
        upgrade({ ...noWeb, broken: true }, { historyMax: 2, rollbackOnFailure: true }),
      ],
      'a failed installation is upgraded, and a failed rollback too': [
        install({ values: { ...noWeb, broken: true } }),
        upgrade(noWeb),
        rollback(1),
        upgrade({ ...noWeb, ...bye }),
      ],
      'an uninstalled release is rolled back, and its name used again': [
        install({ values: noWeb }),
        uninstall({ keepHistory: true }),
        rollback(1),
        uninstall({ keepHistory: true }),
        install({ values: noWeb, replace: true }),
      ],
      'an object that cannot be made keeps no other from being made when a release is installed': [
        install({ values: { broken: true } }),
        uninstall(),
      ],
      'values are those the last revision had, under the defaults of the next chart': valueChain('default'),
      'values are only the given ones, over the defaults of the next chart': valueChain('reset'),
      'values are reused with the defaults of the last chart, whatever null says': valueChain('reuse'),
      'values are reused over the defaults of the next chart, whatever null says': valueChain('reset-then-reuse'),
      'labels stay until they are said to be null, and a revision that failed has them too': [
        install({ values: noWeb, labels: { team: 'a', tier: 'b', none: '' } }),
        upgrade(noWeb, { labels: { team: 'null', none: '', area: 'c' } }),
        upgrade({ ...noWeb, broken: true }, { labels: { failed: 'yes' } }),
        upgrade(noWeb, { labels: { tier: '' } }),
        rollback(1),
      ],
      'a release that failed is replaced, and its templates see a first revision': [
        install({ values: { ...noWeb, broken: true } }),
        install({ values: noWeb }),
        install({ values: noWeb, replace: true, labels: { a: 'b' } }),
        upgrade({ ...noWeb, ...bye }),
        install({ values: noWeb, replace: true }),
      ],
      'an uninstalled release is upgraded only by installing it': [
        install({ values: noWeb }),
        upgrade({ ...noWeb, ...bye }),
        uninstall({ keepHistory: true, description: 'gone' }),
        uninstall({ keepHistory: true }),
        upgrade(noWeb),
        install({ values: noWeb }),
        upgrade(noWeb, { install: true, description: 'back again' }),
        upgrade(noWeb, { install: true }),
        uninstall({ keepHistory: true }),
        uninstall(),
        upgrade(noWeb, { install: true }),
      ],
      'a hook that is refused after everything went lets the release go': [
        install({ values: { ...noWeb, brokenHook: 'post-delete' } }),
        uninstall({ keepHistory: true }),
        uninstall(),
        install({ values: { ...noWeb, brokenHook: 'post-delete' } }),
        uninstall(),
      ],
      ...Object.fromEntries(
        (['pre-install', 'post-install', 'pre-upgrade', 'post-upgrade'] as const).map((event) => [
          `what a refused ${event} hook leaves`,
          [
            install({ values: { ...noWeb, brokenHook: event } }),
            upgrade({ ...noWeb, brokenHook: event, ...bye, added: true }, { cleanupOnFail: true }),
            upgrade(noWeb),
            uninstall({ skipHooks: true }),
          ],
        ]),
      ),
      'objects in other namespaces and of no namespace come and go': [
        install({ values: { ...noWeb, far: true } }),
        upgrade({ ...noWeb, far: false }),
        upgrade({ ...noWeb, far: true }),
        rollback(2),
        rollback(1),
        uninstall(),
      ],
      'what was kept is taken back': [
        install({ values: noWeb }),
        upgrade({ ...noWeb, kept: false }),
        upgrade({ ...noWeb, kept: true }),
        uninstall(),
        install({ values: noWeb }),
      ],
      'an object changes its kind, and one its version': [
        install({ values: { ...noWeb, turning: 'ConfigMap', scaler: 'v1' } }),
        upgrade({ ...noWeb, turning: 'Secret', scaler: 'v2' }),
        rollback(1),
        upgrade(noWeb),
      ],
      'an object that is there twice, and some in a list': [
        // Which of two comes last in an installation is chance with Helm, which makes objects of a kind at the same time.
        install({ values: { ...noWeb, list: true } }),
        upgrade({ ...noWeb, times: 2, list: true }),
        upgrade({ ...noWeb, times: 3, list: true }),
        upgrade(noWeb),
      ],
      'what was deleted by hand is made again, or left out': [
        install({ values: noWeb }),
        async (_, namespace) => {
          await bench.client.delete(ConfigMap, { namespace, name: 'config' });
          await bench.client.delete(Secret, { namespace, name: 'extra' });
        },
        upgrade({ ...noWeb, ...bye }),
        async (_, namespace) => await bench.client.delete(ConfigMap, { namespace, name: 'config' }),
        uninstall(),
      ],
      'what somebody else wrote is a conflict until it is forced': [
        install({ values: noWeb }),
        async (_, namespace) =>
          await bench.client.apply(
            {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { namespace, name: 'config' },
              data: { greeting: 'mine' },
            } as KubeObject,
            { fieldManager: 'somebody', force: true },
          ),
        upgrade({ ...noWeb, ...bye, added: true }),
        upgrade({ ...noWeb, ...bye }, { forceConflicts: true }),
        uninstall(),
      ],
      "somebody else's object is taken over only when that is said": [
        strange,
        install({ values: noWeb }),
        install({ values: noWeb, takeOwnership: true }),
        install({ values: noWeb, takeOwnership: true, forceConflicts: true, replace: true }),
        uninstall(),
      ],
      "somebody else's object is taken over by an upgrade only when that is said": [
        install({ values: { ...noWeb, added: false } }),
        async (_, namespace) =>
          await bench.client.create(
            {
              apiVersion: 'v1',
              kind: 'Secret',
              metadata: { namespace, name: 'added' },
              stringData: { a: 'mine' },
            } as KubeObject,
            { fieldManager: 'somebody' },
          ),
        upgrade({ ...noWeb, added: true }),
        upgrade({ ...noWeb, added: true }, { takeOwnership: true }),
        uninstall(),
      ],
      'a namespace that is there is made all the same': [
        install({ values: noWeb, createNamespace: true }),
        uninstall(),
      ],
      'revisions that are not there, and those that failed': [
        install({ values: noWeb }),
        rollback(0),
        rollback(9),
        upgrade({ ...noWeb, ...bye, broken: true }),
        upgrade({ ...noWeb, ...bye }),
        rollback(2),
        rollback(3),
        rollback(0),
        rollback(1),
      ],
      'a history of one keeps what is deployed and what is last': [
        install({ values: noWeb }),
        upgrade({ ...noWeb, broken: true }, { historyMax: 1 }),
        upgrade({ ...noWeb, broken: true }, { historyMax: 1 }),
        upgrade(noWeb, { historyMax: 1, description: 'told' }),
        upgrade({ ...noWeb, broken: true }, { historyMax: 1 }),
        upgrade(noWeb, { historyMax: 0 }),
      ],
      'what somebody else took over stays, and only the manifest says what is kept': [
        install({ values: noWeb }),
        async (_, namespace) => {
          const patch = async (object: string, body: unknown) =>
            await bench.client.patch(ConfigMap, { namespace, name: object }, { type: 'merge', body } as never);
          await patch('config', { metadata: { annotations: { 'meta.helm.sh/release-name': 'other' } } });
          await patch('kept', { metadata: { annotations: { 'helm.sh/resource-policy': null } } });
        },
        uninstall(),
      ],
    };

    test.each(Object.keys(chains))('%s', async (chain) => {
      await compare(chains[chain]!.map((step) => ['ours', step]));
    });

    test('helm tells of a release of ours what it tells of its own', async () => {
      const places = await compare([
        ['ours', install()],
        ['ours', upgrade(bye)],
        ['ours', rollback(1)],
      ]);
      const tell = async (namespace: string): Promise<string> => {
        const told: string[] = [];
        for (const program of [bench.helm4, ...(helm3.available ? [helm3.path] : [])])
          for (const question of [['list'], ['history', name], ['get', 'all', name]])
            told.push(await bench.helm(program, ...question, '--namespace', namespace));
        const time = /\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]* \S+ \w+/g;
        const text = told.join('\n').replaceAll(namespace, 'the namespace').replaceAll(time, 'then');
        // Columns are as wide as the times in them.
        return text.replaceAll(/ +/g, ' ');
      };
      expect(await tell(places[0])).toBe(await tell(places[1]));
    });
  },
);

async function didFail(work: () => Promise<unknown>): Promise<boolean> {
  return await work().then(
    () => false,
    () => true,
  );
}

function traceOf(object: KubeObject): unknown {
  const {
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _time,
    managedFields,
    ...metadata
  } = object.metadata;
  return {
    ...object,
    metadata,
    managers: managedFields?.map(({ manager, operation, subresource, fieldsV1 }) => ({
      manager,
      operation,
      subresource,
      fieldsV1,
    })),
    spec: withoutAddresses(object['spec']),
    status: undefined,
  };
}

/** The server gives each Service addresses of its own. */
function withoutAddresses(spec: unknown): unknown {
  const { clusterIP: _one, clusterIPs: _all, ...rest } = (spec ?? {}) as Record<string, unknown>;
  return rest;
}

interface RecordTrace {
  readonly info: Record<string, unknown>;
  readonly chart: Record<string, unknown> & { readonly templates: readonly { name: string; data: string }[] };
  readonly hooks?: readonly { readonly last_run?: { readonly phase?: string } }[];
  readonly [field: string]: unknown;
}

/** A revision as helm would read it: without times, and without what is said about a refusal in other words. */
function recordOf(secret: KubeObject): unknown {
  const { release } = secret['data'] as { release: string };
  const packed = Buffer.from(Buffer.from(release, 'base64').toString('utf8'), 'base64');
  const { info, hooks, chart, ...record } = JSON.parse(gunzipSync(packed).toString('utf8')) as RecordTrace;
  const { status, notes, rollback_revision: rollback, description } = info;
  const { createdAt: _created, modifiedAt: _modified, ...labels } = secret.metadata.labels ?? {};
  return {
    ...record,
    // An upgrade of Helm that reuses values writes the nulls it is given into the revision it began with, too, so that it is not what somebody once asked for.
    ...(status === 'superseded' ? { config: undefined } : {}),
    // Left out by Helm 3, whose releases are all written so.
    apply_method: record['apply_method'] ?? 'csa',
    labels,
    chart: {
      metadata: chart['metadata'],
      values: chart['values'],
      templates: chart.templates.map(({ name, data }) => ({ name, data })),
    },
    info: { status, notes, rollback, description: String(description).replace(/failed: .*/s, 'failed') },
    hooks: hooks?.map(({ last_run: run, ...each }) => ({ ...each, phase: run?.phase ?? '' })),
  };
}
