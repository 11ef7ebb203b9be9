import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ConfigMap, Namespace, systemClock, type Command } from '@slipway/kube';
import { testCluster, type TestCluster } from '@slipway/testing';
import { callCommand, type CommandOutcome } from '@slipway/testing/command';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { command } from '../src/command/helmfile-command.ts';
import { ChartServer, makeChart } from './chart-server.ts';

const files = {
  'chart/Chart.yaml': 'apiVersion: v2\nname: chart\nversion: 1.0.0\n',
  'chart/values.yaml': 'text: hello\n',
  'chart/crds/kind.yaml': 'kind: CustomResourceDefinition\n',
  'chart/templates/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  text: {{ .Values.text | quote }}\n',
  'chart/templates/test.yaml': 'kind: Pod\nmetadata: {name: try, annotations: {helm.sh/hook: test}}\n',
  'empty/notes.txt': 'nothing here\n',
  'helmfile.yaml.gotmpl': `environments:
  default: { values: [{ word: hi }] }
  prod: { values: [{ word: good day }] }
---
releases:
  - name: shop
    namespace: apps
    chart: ./chart
    labels: { tier: front }
    needs: [apps/store]
    values: [{ text: "{{ .Values.word }}" }]
  - name: store
    namespace: apps
    chart: ./chart
  - name: gone
    namespace: apps
    chart: ./chart
    installed: false
`,
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-helmfile-command-'));
  await write(files);
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function write(texts: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(texts)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

async function call(
  name: string,
  given: object = {},
  cluster?: TestCluster,
  context?: string,
): Promise<CommandOutcome> {
  return await callCommand(command as Command, name, [], given, {
    cwd: folder,
    clock: cluster?.clock ?? systemClock,
    env: { HOME: folder },
    ...(cluster ? { cluster } : {}),
    context,
  });
}

describe('slipway helmfile without a cluster', () => {
  it('lists releases as a table, and as JSON', async () => {
    expect((await call('list')).out.split('\n')[1]).toMatch(/^gone +\tapps +\ttrue +\tfalse +\t/);
    const listed = JSON.parse((await call('list', { selector: ['tier=front'], output: 'json' })).out) as object[];
    expect(listed).toEqual([
      {
        name: 'shop',
        namespace: 'apps',
        enabled: true,
        installed: true,
        labels: 'chart:chart,name:shop,namespace:apps,tier:front',
        chart: './chart',
        version: '',
      },
    ]);
  });

  it('builds the state with the values of the environment, of files and of flags, the flags last', async () => {
    expect((await call('build')).out).toContain('renderedvalues:\n  word: hi\n');
    expect((await call('build', { environment: 'prod' })).out).toContain('  word: good day\n');
    await write({ 'more.yaml': 'word: from a file\n' });
    const given = { 'state-values-file': ['more.yaml'] };
    expect((await call('build', given)).out).toContain('  word: from a file\n');
    expect((await call('build', { ...given, 'state-values-set': ['word=set'] })).out).toContain('  word: set\n');
  });

  it('writes the values of what is installed, for their owner only', async () => {
    const { err } = await call('write-values', { 'output-file-template': 'out/{{ .Release.Name }}.yaml' });
    expect(err.trim().split('\n')).toHaveLength(2);
    expect(await readFile(join(folder, 'out/shop.yaml'), 'utf8')).toBe('text: hi\n');
    expect((await stat(join(folder, 'out/shop.yaml'))).mode & 0o777).toBe(0o600);
  });

  it('renders what is installed, what others need first', async () => {
    const { out } = await call('template', { 'skip-tests': true });
    expect(out.match(/name: \w+|text: ".*"/g)).toEqual(['name: store', 'text: "hello"', 'name: shop', 'text: "hi"']);
    expect((await call('template', { 'include-crds': true })).out).toContain('CustomResourceDefinition');
  });

  it('renders nothing that helm would not install: libraries, charts without their dependencies, names that are none', async () => {
    await write({
      'library/Chart.yaml': 'apiVersion: v2\nname: library\nversion: 1.0.0\ntype: library\n',
      'lacking/Chart.yaml':
        'apiVersion: v2\nname: lacking\nversion: 1.0.0\ndependencies: [{ name: db, version: 1.0.0, repository: "https://charts.example.com" }]\n',
    });
    const refusalOf = async (release: string) => {
      await write({ 'one.yaml': `releases:\n  - ${release}\n` });
      return await call('template', { file: 'one.yaml' }).catch((error: Error) => error.message);
    };
    expect(await refusalOf('{ name: web, chart: ./library }')).toBe('release web: library charts are not installable');
    expect(await refusalOf('{ name: web, chart: ./lacking }')).toMatch(/missing in charts\/ directory: db$/);
    expect(await refusalOf('{ name: web, chart: "git::https://example.com/a.git@charts/web?ref=main" }')).toMatch(
      /one\.yaml: chart git::.* of release "web": charts are not fetched this way$/,
    );
    expect(await refusalOf('{ name: web, chart: ./empty }')).toMatch(
      /one\.yaml: chart \.\/empty of release "web" has no Chart\.yaml: manifests and kustomizations are not made/,
    );
    expect(await refusalOf('{ name: Web, chart: ./chart }')).toMatch(/^release Web: 'Web' cannot be the name/);
  });

  it('names each file of values by the state, too, and puts it beside the state unless it is told where', async () => {
    await write({ 'sub/state.yaml': 'releases: [{ name: web, chart: ../chart }]\n' });
    const state = { file: 'sub/state.yaml' };
    await call('write-values', { ...state, 'output-file-template': '{{ .State.BaseName }}-{{ .Release.Name }}.yaml' });
    expect(await readFile(join(folder, 'state-web.yaml'), 'utf8')).toBe('{}\n');
    const { err } = await call('write-values', state);
    expect(err).toMatch(/sub\/state-[0-9a-f]{8}\/web\.yaml\n$/);
  });

  it('writes the manifests of every release to a folder of its own', async () => {
    const { out } = await call('template', { 'output-dir': 'out', 'skip-tests': true });
    const written = [...out.matchAll(/^wrote (.*)$/gm)].map(([, path]) => path!);
    const [store, shop] = written;
    expect(written).toHaveLength(2);
    expect(shop).toMatch(/^out\/helmfile\.yaml-[0-9a-f]{8}-shop\/chart\/templates\/config\.yaml$/);
    expect(store).toMatch(/-store\/chart\/templates\/config\.yaml$/);
    expect(await readFile(join(folder, shop!), 'utf8')).toMatch(/^---\n# Source: chart\/templates\/config.yaml\n/);
    const named = { 'output-dir': 'own', 'output-dir-template': '{{ .OutputDir }}/{{ .Release.Namespace }}' };
    const own = await call('template', { ...named, selector: ['name=shop'], 'skip-tests': true });
    expect(own.out).toBe('wrote own/apps/chart/templates/config.yaml\n');
  });

  it('says which release does not render', async () => {
    await write({ 'chart/templates/asks.yaml': '{{ if eq .Release.Name "shop" }}{{ fail "no" }}{{ end }}' });
    await expect(call('template')).rejects.toThrow(/^release shop in apps: execution error at .*: no$/);
  });

  it('lets selectors take nothing when it is told to', async () => {
    const nothing = { selector: ['tier=nowhere'], 'allow-no-matching-release': true };
    expect((await call('list', { ...nothing, output: 'json' })).out).toBe('[]\n');
  });

  it.each([
    ['template', { 'output-dir': 'out', 'output-dir-template': '{{ .Nothing }}' }, /^--output-dir-template: /],
    ['write-values', { 'output-file-template': '{{ nothing }}' }, /^--output-file-template: .*"nothing" not defined/],
    [
      'template',
      { 'output-dir': 'helmfile.yaml.gotmpl' },
      /^cannot write .*helmfile\.yaml\.gotmpl.*: (ENOTDIR|EEXIST)$/,
    ],
    ['list', { file: 'nowhere.yaml' }, /nowhere\.yaml: no such state file or directory/],
    ['list', { environment: 'unknown' }, /environment "unknown" is not defined/],
    ['list', { selector: ['tier'] }, /tier/],
    ['list', { selector: ['tier=nowhere'] }, /no release has the labels tier=nowhere in environment default/],
    ['build', { 'state-values-file': ['absent.yaml'] }, /given values: file\[0\]: absent\.yaml does not exist in/],
    ['list', { file: 'empty' }, /empty has no state files/],
    ['template', { 'include-needs': true, 'skip-needs': true }, /cannot be used together/],
  ] as [string, object, RegExp][])('%s with %j says what is wrong', async (name, flags, message) => {
    await expect(call(name, flags)).rejects.toThrow(message);
  });
});

describe('slipway helmfile with charts of others', () => {
  let server: ChartServer;
  beforeEach(async () => {
    server = await new ChartServer({ credentials: { username: 'reader', password: 'hunter2' } }).start();
    for (const version of ['1.0.0', '1.1.0', '2.0.0']) await server.publish(await makeChart('web', version));
  });
  afterEach(async () => {
    await server[Symbol.asyncDispose]();
  });

  const state = (password: string) => `repositories:
  - { name: shop-charts, url: "${server.repository}", username: reader${password} }
  - { name: registry, url: "${server.host}/charts", oci: true, plainHttp: true, username: reader${password} }
releases:
  - { name: a, chart: shop-charts/web, version: ~1.0 }
  - { name: b, chart: registry/web, version: ^1 }
  - { name: c, chart: registry/web, version: ^1 }
`;

  it('fetches each once from the repositories and registries the state names', async () => {
    await write({ 'remote.yaml': state(', password: hunter2') });
    const { out } = await call('template', { file: 'remote.yaml' });
    expect(out.match(/chart: ".*"/g)).toEqual(['chart: "1.0.0"', 'chart: "1.1.0"', 'chart: "1.1.0"']);
    expect(server.seen.filter(({ path }) => path.includes('/manifests/1.1.0'))).toHaveLength(1);
  });

  it('takes the password from the environment, as helmfile does', async () => {
    await write({ 'remote.yaml': state('') });
    await expect(call('template', { file: 'remote.yaml' })).rejects.toThrow(/the server refuses us \(401\)/);
    const variables = { HOME: folder, SHOP_CHARTS_PASSWORD: 'hunter2', REGISTRY_PASSWORD: 'hunter2' };
    const { out } = await callCommand(
      command as Command,
      'template',
      [],
      { file: 'remote.yaml' },
      { cwd: folder, clock: systemClock, env: variables },
    );
    expect(out).toContain('chart: "1.0.0"');
  });

  it('names a repository that is not there', async () => {
    await write({ 'remote.yaml': 'releases: [{ name: a, chart: nobody/web }]\n' });
    await expect(call('template', { file: 'remote.yaml' })).rejects.toThrow(/no repository "nobody" is configured/);
  });
});

describe('slipway helmfile on a cluster', () => {
  let cluster: TestCluster;
  beforeEach(async () => {
    cluster = await testCluster();
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'apps' } });
    await rm(join(folder, 'chart/crds'), { recursive: true });
  });
  afterEach(async () => {
    await cluster[Symbol.asyncDispose]();
  });

  const textOf = async (name: string) =>
    (await cluster.client.get(ConfigMap, { namespace: 'apps', name }))?.data?.['text'];

  it('syncs, shows differences, applies only those, and destroys', async () => {
    expect(await cluster.client.get(Namespace, { name: 'apps' })).toBeDefined();
    const synced = await call('sync', {}, cluster);
    expect(synced.out).toBe('installed   apps/store (revision 1)\ninstalled   apps/shop (revision 1)\n');
    expect(await textOf('shop')).toBe('hi');

    expect(await call('diff', { 'detailed-exitcode': true }, cluster)).toMatchObject({ out: '', code: 0 });
    const prod = { environment: 'prod' };
    const { out, code } = await call('diff', { ...prod, 'detailed-exitcode': true }, cluster);
    expect(code).toBe(2);
    expect(out).toContain('upgrade apps/shop\nConfigMap apps/shop (v1) changed:\n');
    expect(out).toContain('\n-   text: hi\n+   text: good day\n');
    expect(await call('diff', prod, cluster)).toMatchObject({ code: 0 });

    const applied = await call('apply', { ...prod, 'detailed-exitcode': true }, cluster);
    expect(applied.code).toBe(2);
    expect(await call('apply', { ...prod, 'detailed-exitcode': true }, cluster)).toMatchObject({ code: 0 });
    expect(applied.out).toContain('upgraded    apps/shop (revision 2)\nunchanged   apps/store\n');
    expect(await textOf('shop')).toBe('good day');

    await expect(call('diff', { 'kube-context': 'elsewhere' }, cluster, 'here')).rejects.toThrow(
      /this is the cluster of context "here", not of "elsewhere"/,
    );
    const same = { 'kube-context': 'here', 'detailed-exitcode': true, ...prod };
    expect(await call('diff', same, cluster, 'here')).toMatchObject({ out: '', code: 0 });

    const destroyed = await call('destroy', { selector: ['name=shop'] }, cluster);
    expect(destroyed.out).toBe('uninstalled apps/shop\n');
    expect([await textOf('shop'), await textOf('store')]).toEqual([undefined, 'hello']);
  });
});
