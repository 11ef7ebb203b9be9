import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Command, systemClock } from '@slipway/kube';
import { onReference, skipped, type TestCluster } from '@slipway/testing';
import { callCommand } from '@slipway/testing/command';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { command } from '../src/command/chart-command.ts';
import { type HelmBench, openHelmBench } from './helm-bench.ts';

const without = skipped(
  !onReference,
  'what our commands print beside what helm prints: needs the real API server and helm',
);

const hook = (name: string, annotations: object, more = '') =>
  `---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  annotations: ${JSON.stringify(annotations)}\n${more}`;

const shop = {
  'Chart.yaml':
    'apiVersion: v2\nname: shop\nversion: 1.0.0\nappVersion: "2"\ndescription: a <shop> & more\nannotations: {b: x, a: "1"}\n' +
    'dependencies: [{name: inner, version: 1.0.0, repository: "", condition: inner.on}]\n',
  'values.yaml': 'greeting: hello\nbig: 1000000\nf: 1.5\nnested: {a: 1, b: null, c: "yes"}\ninner: {on: true}\n',
  'README.md': '# Shop\n',
  'charts/inner/Chart.yaml': 'apiVersion: v2\nname: inner\nversion: 1.0.0\n',
  'charts/inner/templates/NOTES.txt': 'Inner notes.\n',
  'templates/all.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {greeting: {{ .Values.greeting | quote }}}\n' +
    '---\napiVersion: v1\nkind: Secret\nmetadata: {name: secret}\nstringData: {a: b}\n',
  'templates/hooks.yaml': [
    hook('hook', { 'helm.sh/hook': 'pre-install,pre-upgrade' }),
    hook('try-b', { 'helm.sh/hook': 'test', 'helm.sh/hook-weight': '2' }),
    hook('try-a', { 'helm.sh/hook': 'test', 'helm.sh/hook-delete-policy': 'hook-succeeded' }),
  ].join(''),
  'templates/NOTES.txt': '\nSay {{ .Values.greeting }}.\n\n',
};

const chart = (more: Readonly<Record<string, string>>, head = '') => ({
  'Chart.yaml': `apiVersion: v2\nname: linted\nversion: 1.0.0\nicon: https://example.com/i.png\n${head}`,
  'values.yaml': 'a: 1\n',
  'templates/x.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n',
  ...more,
});
const objects = (pairs: readonly (readonly [string, string, string])[]) => ({
  'templates/o.yaml': pairs
    .map(
      ([version, kind, name]) => `apiVersion: ${version}\nkind: ${kind}\nmetadata: {name: "${name}"}\n# matchLabels\n`,
    )
    .join('---\n'),
});

/** Charts with everything the rules speak of, but for what the readers of YAML and of schemas say in words of their own. */
const linted: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  good: chart({ 'templates/_h.tpl': '', 'templates/NOTES.txt': 'hi' }),
  'no-chart': { 'values.yaml': 'a: 1\n' },
  least: { 'Chart.yaml': 'apiVersion: v2\nname: least\nversion: 1.0.0\n' },
  nameless: { ...chart({}), 'Chart.yaml': 'version: 1.0.0\n' },
  'old-with-new-fields': {
    ...chart({}),
    'Chart.yaml':
      'apiVersion: v1\nname: old\nversion: 1.0.0\ntype: application\ndependencies: [{name: a, version: 1.0.0}]\n',
  },
  'api-version': { ...chart({}), 'Chart.yaml': 'apiVersion: v3\nname: c\nversion: 1.0.0\n' },
  numbers: { ...chart({}), 'Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.2\nappVersion: 1.16\n' },
  version: { ...chart({}), 'Chart.yaml': 'apiVersion: v2\nname: c\nversion: nope\n' },
  'strict-version': { ...chart({}), 'Chart.yaml': 'apiVersion: v2\nname: c\nversion: v1.0.0\n' },
  unknown: chart({}, 'foo: bar\n'),
  repeated: chart({}, 'name: again\n'),
  email: chart({}, 'maintainers: [{name: a, email: "a b@c.d"}]\nsources: ["git@github.com:a/b"]\n'),
  address: chart({}, 'maintainers: [{name: a, url: "https://a b"}]\nsources: [abc, "http://x"]\n'),
  'good-maintainers': chart(
    {},
    'maintainers: [{name: a, email: a@b.io, url: "https://b.io/x?y=1"}, {name: b, url: github.com/b}]\nsources: ["ftp://a"]\n',
  ),
  'no-maintainer': chart({}, 'maintainers: [{email: a@b.io}]\n'),
  dependencies: chart(
    { 'charts/inner/Chart.yaml': 'apiVersion: v2\nname: inner\nversion: 1.0.0\n' },
    'dependencies: [{name: other, version: 1.0.0, repository: ""}]\n',
  ),
  names: chart(
    objects([
      ['v1', 'Service', '1a'],
      ['v1', 'Namespace', 'a.b'],
      ['v1', 'Namespace', 'A'],
      ['rbac.authorization.k8s.io/v1', 'ClusterRole', 'a/b:c%d'],
      ['rbac.authorization.k8s.io/v1', 'Role', '.'],
      ['certificates.k8s.io/v1', 'CertificateSigningRequest', 'A'],
      ['v1', 'Pod', 'a'.repeat(260)],
      ['v1', 'Service', `${'a'.repeat(64)}_`],
    ]),
  ),
  deprecated: chart(
    objects([
      ['policy/v1beta1', 'PodDisruptionBudget', 'x'],
      ['extensions/v1beta1', 'Ingress', 'x'],
      ['apps/v1beta1', 'Deployment', 'x'],
      ['v1', 'Endpoints', 'x'],
      ['v1', 'ComponentStatus', 'x'],
      ['policy/v1beta1', 'PodSecurityPolicy', 'x'],
      ['resource.k8s.io/v1beta1', 'ResourceClaim', 'x'],
      ['flowcontrol.apiserver.k8s.io/v1beta3', 'FlowSchema', 'x'],
    ]),
  ),
  objects: chart({
    'templates/d.yaml': '  kind: Deployment\n  apiVersion: apps/v1\n  metadata: {name: d}\n',
    'templates/l.yaml': 'kind: List\nitems: [{metadata: {annotations: {helm.sh/resource-policy: keep}}}]\n',
    'templates/r.yaml': 'a: {{ required "need" .Values.zz }}\n{{ fail "never" }}\nkind: A\nmetadata: {name: q}\n',
    'templates/y.foo': '',
  }),
  capitals: {
    ...chart({}),
    'Chart.yaml': 'apiVersion: v2\nName: c\nVERSION: 1.0.0\nicon: https://example.com/i.png\n',
  },
  'wrong-type': chart({}, 'keywords: [{a: b}]\n'),
  'empty-entry': chart({}, 'maintainers: [~]\n'),
  'wrong-lock': chart({ 'Chart.lock': 'generated: 3\n' }),
  'values-list': chart({ 'values.yaml': '- a\n' }),
  'values-separator': chart({ 'values.yaml': 'a: 1\n--- b: 2\n' }),
  'carriage-returns': chart({ 'templates/y.yaml': 'kind: A\r\nmetadata: {name: a}\r\n---\r\nkind: B\r\n' }),
  list: chart({ 'templates/y.yaml': '- 1\n- 2\n' }),
  text: chart({ 'templates/y.yaml': 'hello\n' }),
  release: chart({
    'templates/y.yaml':
      'kind: A\nmetadata: {name: q{{ .Release.Name }}{{ .Release.Revision }}}\nx: {{ .Release.IsInstall }}\n',
  }),
  execution: chart({ 'templates/y.yaml': 'kind: {{ .Values.a.b.c }}\n' }),
  parse: chart({ 'templates/y.yaml': 'kind: {{ .Values.a \n' }),
  definitions: chart({
    'crds/a.yaml': 'kind: A\napiVersion: v1\n---\n',
    'crds/b.yaml': 'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n',
  }),
};

describe.skipIf(without)('what is printed is what helm prints', { timeout: 120_000 }, () => {
  let bench: HelmBench;
  let folder: string;
  beforeAll(async () => {
    bench = await openHelmBench(shop);
    folder = dirname(bench.chartFolder);
    for (const [name, files] of Object.entries(linted)) {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(folder, name, path)), { recursive: true });
        await writeFile(join(folder, name, path), text);
      }
    }
    await bench.helm(bench.helm4, 'install', 'shop', bench.chartFolder, '--set=greeting=hi', '--labels=team=x');
    await bench.helm(bench.helm4, 'upgrade', 'shop', bench.chartFolder, '--description=again');
    await bench.helm(bench.helm4, 'rollback', 'shop', '1');
  });
  afterAll(async () => await bench?.[Symbol.asyncDispose]());

  async function ours(path: string, args: readonly string[], given: object): Promise<string> {
    const cluster = { client: bench.client, transport: () => undefined } as unknown as TestCluster;
    const call = { cwd: folder, clock: systemClock, cluster };
    return (await callCommand(command as Command, path, args, given, call)).out;
  }

  /** What helm prints, also when it fails. */
  async function helms(args: readonly string[]): Promise<string> {
    return await new Promise((resolve) =>
      execFile(bench.helm4, args, { cwd: folder, env: { KUBECONFIG: bench.kubeconfig, HOME: folder } }, (_error, out) =>
        resolve(out),
      ),
    );
  }

  /** Without ages, which go on, the time of what is only planned, and blanks at the ends of lines. */
  const settled = (text: string) =>
    text
      .replaceAll(/^LAST DEPLOYED: .*\n/gm, '')
      .replaceAll(/ (?:\d+[dhms])+$/gm, ' AGE')
      .replaceAll(/[ \t]+$/gm, '');

  test.each([
    ['get values', ['shop'], {}],
    ['get values', ['shop'], { revision: 2 }],
    ['get values', ['shop'], { revision: 2, output: 'json' }],
    ['get values', ['shop'], { all: true }],
    ['get values', ['shop'], { all: true, output: 'json' }],
    ['get values', ['shop'], { output: 'yaml' }],
    ['get manifest', ['shop'], { revision: 1 }],
    ['get hooks', ['shop'], {}],
    ['get notes', ['shop'], {}],
    ['get all', ['shop'], {}],
    ['history', ['shop'], { 'show-rollback-revision': true }],
    ['history', ['shop'], { max: 2 }],
    ['list', [], {}],
    ['list', [], { short: true, deployed: true }],
    ['list', [], { short: true, output: 'json' }],
    ['list', [], { 'no-headers': true, selector: 'team=x', 'time-format': 'Jan 2 2006' }],
    ['list', [], { filter: '^none' }],
    ['show chart', ['shop'], {}],
    ['show values', ['shop'], {}],
    ['show readme', ['shop'], {}],
    ['show all', ['shop'], {}],
    ['show all', ['definitions'], {}],
    ['install', ['new', 'good'], { 'dry-run': 'client' }],
    ['install', ['new', 'good'], { 'dry-run': 'server' }],
    ['install', ['new', 'shop'], { 'dry-run': 'client', 'hide-secret': true, 'hide-notes': true }],
  ] as [string, string[], Readonly<Record<string, string | number | boolean>>][])(
    '%s %j with %j',
    async (path, args, given) => {
      const flags = Object.entries(given).map(([name, value]) => `--${name}=${String(value)}`);
      const printed = await ours(path, args, given).catch(() => '');
      expect(settled(printed)).toBe(settled(await helms([...path.split(' '), ...args, ...flags])));
    },
  );

  test('status, whatever the order of its kinds, and as JSON whatever the order of its fields', async () => {
    const sorted = (text: string) => settled(text).split('\n').sort();
    expect(sorted(await ours('status', ['shop'], {}))).toEqual(sorted(await helms(['status', 'shop'])));
    const read = (text: string) => JSON.parse(text) as unknown;
    const json = { output: 'json' };
    expect(read(await ours('status', ['shop'], json))).toEqual(read(await helms(['status', 'shop', '-o', 'json'])));
  });

  test('get metadata, but for labels that are the storage’s own', async () => {
    const read = (text: string) => JSON.parse(text) as { labels: object };
    const { labels, ...theirs } = read(await helms(['get', 'metadata', 'shop', '-o', 'json']));
    const { labels: own, ...printed } = read(await ours('get metadata', ['shop'], { output: 'json' }));
    expect(printed).toEqual(theirs);
    expect(labels).toMatchObject(own);
  });

  test('test, and what it leaves in the record', async () => {
    const untimed = (text: string) => settled(text).replaceAll(/^Last .*\n/gm, '');
    const theirs = untimed(await helms(['test', 'shop']));
    expect(untimed(await ours('test', ['shop'], {}))).toBe(theirs);
    expect(settled(await ours('get all', ['shop'], {}))).toBe(settled(await helms(['get', 'all', 'shop'])));
  });

  test.each(Object.keys(linted))('lint %s', async (name) => {
    for (const [flags, given] of [
      [[], {}],
      [['--quiet', '--with-subcharts'], { quiet: true, 'with-subcharts': true }],
      [['--kube-version=v1.20.0'], { 'kube-version': 'v1.20.0' }],
    ] as const) {
      let printed = '';
      // What is printed before it fails counts.
      const failure = await lint(name, given, (text) => (printed += text));
      const theirs = await helms(['lint', name, ...flags]);
      expect(printed).toBe(theirs);
      expect(failure === undefined).toBe(theirs === '' || theirs.endsWith(', 0 chart(s) failed\n'));
    }
  });

  async function lint(name: string, given: object, out: (text: string) => void): Promise<unknown> {
    const { lintCommand } = await import('../src/command/lint.ts');
    const lists = ['values', 'set', 'set-string', 'set-json', 'set-file', 'set-literal'];
    const flags = { namespace: 'default', ...Object.fromEntries(lists.map((list) => [list, []])), ...given };
    try {
      await lintCommand.run!({ terminal: { cwd: folder, out }, args: [name], flags } as never);
      return undefined;
    } catch (error) {
      return error;
    }
  }
});
