import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureReferenceBinaries } from '@slipway/reference-cluster';
import { defineKind, toCustomResourceDefinition, type KubeObject, type Namespace } from '@slipway/kube';
import { operandOperator } from '@slipway/operand';
import type { OperatorDescription } from '@slipway/runtime';
import { onReference, skipped } from '@slipway/testing';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { Call, call, servedCluster, temporaryFolder, type CallOptions, type ServedCluster } from './kit.ts';

const Boat = defineKind({
  group: 'harbour.example.com',
  version: 'v1',
  kind: 'Boat',
  scope: 'Namespaced',
  shortNames: ['bt'],
  spec: Type.Object({}),
  status: Type.Object({ conditions: Type.Optional(Type.Array(Type.Any())) }),
});
/** Its kinds live in namespaces, beside those of the Operand operator, which do not. */
const harbour: OperatorDescription = {
  ...operandOperator,
  name: 'harbour',
  title: 'Harbour',
  kinds: [Boat],
  flags: [{ name: 'depth', description: 'How deep it is.', type: 'integer', default: '5' }],
  examples: [],
  policies: [],
};
const operators = [operandOperator, harbour];
const long = `the tide: ${'it comes and goes, '.repeat(20)}and comes`;
const afloat = [
  { type: 'Ready', status: 'False', reason: 'Aground', message: long, lastTransitionTime: '2026-01-02T03:04:05Z' },
];

let cluster: ServedCluster;
beforeAll(async () => {
  cluster = await servedCluster({ crds: [(await call(['crds'], { operators })).out] });
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bay' } } as Namespace);
  await launch('ann', 'default', { fleet: 'red' });
  await launch('bob', 'bay', { fleet: 'blue' });
  await cluster.client.create(operandObject('hello'));
});
afterAll(() => cluster[Symbol.asyncDispose]());

async function launch(name: string, namespace: string, labels: Record<string, string> = {}): Promise<void> {
  await cluster.client.create({
    apiVersion: Boat.apiVersion,
    kind: 'Boat',
    metadata: { name, namespace, labels },
    spec: {},
  });
  await cluster.client.patch(
    Boat,
    { name, namespace },
    { type: 'merge', body: { status: { conditions: afloat } } },
    { subresource: 'status' },
  );
}

function operandObject(name: string): KubeObject {
  return { apiVersion: operandOperator.kinds[0]!.apiVersion, kind: 'Operand', metadata: { name }, spec: {} };
}

const status = (argv: readonly string[], options: CallOptions = {}) =>
  call(['status', '--kubeconfig', cluster.kubeconfig, ...argv], { operators, cwd: cluster.folder, ...options });
const names = async (...argv: string[]) =>
  (await status([...argv, '-o', 'name'])).out.trim().split('\n').filter(Boolean);

const hasBash = await promisify(execFile)('bash', ['--version']).then(
  () => true,
  () => false,
);
const ann = 'boat.harbour.example.com/ann';
const bob = 'boat.harbour.example.com/bob';
const hello = 'operand.operand.run.cloud.google.com/hello';

describe('which objects status shows', () => {
  test.each<[string, string[], string[]]>([
    ['those of the namespace of the context, and those in none', [], [hello, ann]],
    ['-n: those of another namespace', ['-n', 'bay'], [hello, bob]],
    ['-A: those of all namespaces', ['-A'], [hello, bob, ann]],
    ['-l: those with a label', ['-A', '-l', 'fleet=red'], [ann]],
    ['OPERATOR', ['harbour'], [ann]],
    ['KIND by its plural', ['boats'], [ann]],
    ['KIND by its own name', ['Boat'], [ann]],
    ['KIND by its short name', ['bt', '-n', 'bay'], [bob]],
    ['KIND by its full name', ['boats.harbour.example.com'], [ann]],
    ['KIND/NAME', ['boat/bob', '-n', 'bay'], [bob]],
    ['several of them', ['operand/hello', 'boats'], [hello, ann]],
  ])('%s', async (_what, argv, expected) => {
    expect(await names(...argv)).toEqual(expected);
  });

  test('the namespace of the context is the one of the kubeconfig', async () => {
    const config = parse(await readFile(cluster.kubeconfig, 'utf8')) as {
      contexts: { context: { namespace?: string } }[];
    };
    config.contexts[0]!.context.namespace = 'bay';
    const file = await cluster.file('in-bay', JSON.stringify(config));
    const { out } = await call(['status', 'boats', '-o', 'name', '--kubeconfig', file], { operators });
    expect(out).toBe(`${bob}\n`);
  });

  test('-f takes files, folders and standard input, as often as one likes', async () => {
    const boat = 'apiVersion: harbour.example.com/v1\nkind: Boat\nmetadata: { name: ann }\n';
    await cluster.file('ann.yaml', `${boat}---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: other }\n`);
    await mkdir(join(cluster.folder, 'more'), { recursive: true });
    await writeFile(
      join(cluster.folder, 'more', 'bob.json'),
      JSON.stringify({ apiVersion: Boat.apiVersion, kind: 'Boat', metadata: { name: 'bob', namespace: 'bay' } }),
    );
    const argv = ['-f', 'ann.yaml', '-f', 'more', '-f', '-', '-o', 'name'];
    const { out } = await status(argv, { input: JSON.stringify(operandObject('hello')) });
    expect(out).toBe(`${ann}\n${bob}\n${hello}\n`);
  });

  test.each<[string, string[], number, RegExp]>([
    [
      'an object that is not there',
      ['boat/eve'],
      1,
      /^slipway: there is no boat\.harbour\.example\.com\/eve in namespace default\n {2}slipway status boats -A lists/,
    ],
    [
      'a word nobody knows',
      ['moon'],
      2,
      /^slipway: there is no operator, kind or KIND\/NAME 'moon'\n {2}operators: operand, harbour; kinds: .*boats/,
    ],
    [
      'a name in all namespaces',
      ['boat/ann', '-A'],
      2,
      /^slipway: .*-A does not go with it\n {2}slipway status --help lists its flags/,
    ],
    [
      'a selector that is none',
      ['-l', 'fleet in red'],
      2,
      /^slipway: -l: .*\n {2}write it as kubectl takes it: app=web/,
    ],
    ['a name and a selector', ['boat/ann', '-l', 'a=b'], 2, /^slipway: .*-l/],
    ['words and files', ['boats', '-f', 'x'], 2, /^slipway: .*not both/],
    [
      'files without an object of an operator',
      ['-f', 'none.yaml'],
      2,
      /^slipway: the files hold no object of an operator\n {2}they manage .*Boat/,
    ],
  ])('%s is an error that says what to do', async (_what, argv, code, message) => {
    await cluster.file('none.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n');
    expect(await status(argv)).toMatchObject({ code, out: '', err: expect.stringMatching(message) as string });
  });

  test('a kind the cluster does not know: 5, with the operator to install', async () => {
    await using empty = await servedCluster({ controllers: 'none' });
    const { code, err } = await call(['status', 'boats', '--kubeconfig', empty.kubeconfig], { operators });
    expect(err).toBe(
      'slipway: the cluster does not know boats.harbour.example.com\n  slipway install harbour puts it there\n',
    );
    expect(code).toBe(5);
  });

  test('nothing in a namespace is said to be that', async () => {
    const { out } = await status(['boats', '-n', 'kube-system']);
    expect(out).toBe('nothing is managed in namespace kube-system (-A looks into all)\n');
  });
});

describe('how status shows them', () => {
  test('JSON and YAML carry apiVersion, namespace and conditions', async () => {
    const expected = {
      operator: 'harbour',
      apiVersion: 'harbour.example.com/v1',
      kind: 'Boat',
      namespace: 'default',
      name: 'ann',
      state: 'Aground',
      since: '2026-01-02T03:04:05.000Z',
      message: long,
      conditions: afloat,
    };
    expect(JSON.parse((await status(['boats', '-o', 'json'])).out)).toEqual([expected]);
    expect(parse((await status(['boats', '-o', 'yaml'])).out)).toEqual([expected]);
    const [inNone] = JSON.parse((await status(['operands', '-o', 'json'])).out) as [object];
    expect(inNone).not.toHaveProperty('namespace');
  });

  test('a message is cut on a terminal and whole when piped', async () => {
    expect((await status(['boats'], { columns: 80 })).out).toContain(long);
    const { out } = await status(['boats'], { columns: 80, interactive: true });
    expect(out).not.toContain(long);
    expect(out).toContain('…');
  });

  test('-w piped prints a row for each change, and nothing twice', async () => {
    const watching = new Call(['status', 'boats', '-n', 'bay', '-w', '--kubeconfig', cluster.kubeconfig], {
      operators,
    });
    await watching.says(/^OPERATOR .*\nharbour +Boat +bay\/bob +Aground/);
    await launch('eve', 'bay');
    await watching.says(/\nharbour +Boat +bay\/eve +Aground/);
    await cluster.client.delete(Boat, { name: 'eve', namespace: 'bay' });
    await watching.says(/\nharbour +Boat +bay\/eve +Gone/);
    expect(await watching.stop()).toBe(0);
    expect(watching.out.match(/bay\/bob/g)).toHaveLength(1);
    expect(watching.out.match(/OPERATOR/g)).toHaveLength(1);
  });

  test('-w goes on where an object comes back, and shows kinds from when they are installed', async () => {
    await using empty = await servedCluster({ controllers: 'none' });
    const watching = new Call(['status', '-w', '-o', 'name', '--kubeconfig', empty.kubeconfig], { operators });
    await empty.client.apply(toCustomResourceDefinition(Boat));
    await empty.client.create({
      apiVersion: Boat.apiVersion,
      kind: 'Boat',
      metadata: { name: 'ann', namespace: 'default' },
      spec: {},
    });
    await watching.says(/^boat\.harbour\.example\.com\/ann\n/);
    expect(await watching.stop()).toBe(0);
  });

  test('-w on a terminal draws the table over itself', async () => {
    const options = { operators, interactive: true };
    const watching = new Call(['status', 'boats', '-n', 'bay', '-w', '--kubeconfig', cluster.kubeconfig], options);
    await watching.says(/^OPERATOR .*\n.*bay\/bob/);
    await launch('kim', 'bay');
    await watching.says(/.\[2A.\[0JOPERATOR .*\n.*bay\/bob.*\n.*bay\/kim/);
    expect(await watching.stop()).toBe(0);
    await cluster.client.delete(Boat, { name: 'kim', namespace: 'bay' });
  });

  test('-w says when it cannot watch any more, and goes on', async () => {
    await using lost = await servedCluster({ controllers: 'none', crds: [(await call(['crds'], { operators })).out] });
    const watching = new Call(['status', 'boats', '-w', '--kubeconfig', lost.kubeconfig], { operators });
    await watching.says(/nothing is managed in namespace default/);
    await lost.cluster.stop();
    await watching.says(
      /of Boat\.v1\.harbour\.example\.com in namespace default failed: .*; the cache keeps trying\.\n/,
    );
    expect(await watching.stop()).toBe(0);
    expect(watching.out).toBe('');
  });

  test('-w KIND/NAME watches that one object beyond its end', async () => {
    await launch('liz', 'bay');
    const argv = ['status', 'boat/liz', '-n', 'bay', '-w', '-o', 'json', '--kubeconfig', cluster.kubeconfig];
    const watching = new Call(argv, { operators });
    await watching.says(/"name":"liz"/);
    await launch('joe', 'bay');
    await cluster.client.delete(Boat, { name: 'liz', namespace: 'bay' });
    await watching.says(/"name":"liz","state":"Gone"/);
    await launch('liz', 'bay');
    await watching.says(/"Gone"[^]*"state":"Aground"/);
    expect(await watching.stop()).toBe(0);
    expect(watching.out).not.toContain('joe');
    for (const name of ['liz', 'joe']) await cluster.client.delete(Boat, { name, namespace: 'bay' });
  });

  test('-w -o json prints a document in a line for each change', async () => {
    const watching = new Call(['status', 'boats', '-w', '-o', 'json', '--kubeconfig', cluster.kubeconfig], {
      operators,
    });
    await watching.says(/"name":"ann".*\n/);
    expect(await watching.stop()).toBe(0);
    expect(JSON.parse(watching.out)).toMatchObject({ kind: 'Boat', name: 'ann', conditions: afloat });
  });
});

describe('plan', () => {
  const map = (data: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { a: ${data} }\n`;
  const plan = (input: string, ...argv: string[]) =>
    call(['plan', '-f', '-', '--kubeconfig', cluster.kubeconfig, ...argv], { operators, input });

  test('--exit-code: 1 for changes, 0 for none, above 1 for errors', async () => {
    expect((await plan(map('b'))).code).toBe(0);
    expect((await plan(map('b'), '--exit-code')).code).toBe(1);
    await cluster.client.create(parse(map('b').replace('name: a', 'name: a, namespace: default')) as KubeObject);
    // Whoever applied it: what is written is what there is.
    expect(await plan(map('b'), '--exit-code')).toEqual({ code: 0, out: 'nothing to do (1 unchanged)\n', err: '' });
    expect((await plan('', '--exit-code')).code).toBe(0);
    const refused = await plan(map('b').replace('name: a', 'name: A_B'), '--exit-code');
    expect(refused.err).toMatch(/^slipway: the cluster would refuse/);
    expect(refused.code).toBe(6);
    expect((await plan(map('b').replace('name: a', 'name: A_B'))).code).toBe(1);
    expect((await plan('kind: ConfigMap', '--exit-code')).code).toBe(2);
  });

  test('objects without a namespace are in that of -n, or of the context', async () => {
    expect((await plan(map('c'))).out).toContain('ConfigMap default/a');
    expect((await plan(map('c'), '-n', 'bay')).out).toContain('ConfigMap bay/a');
    const { code, err } = await plan(map('c').replace('name: a', 'name: a, namespace: default'), '-n', 'bay');
    expect(err).toBe(
      'slipway: ConfigMap default/a is not in namespace bay\n  leave out -n bay, or the namespace in the manifest\n',
    );
    expect(code).toBe(2);
  });

  test('-l plans only the objects of the files with these labels', async () => {
    const labelled = (name: string, fleet: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, labels: { fleet: ${fleet} } }\n`;
    const both = `${labelled('red-one', 'red')}---\n${labelled('blue-one', 'blue')}`;
    expect((await plan(both, '-l', 'fleet=red', '-o', 'name')).out).toBe('configmap/red-one\n');
    expect((await plan(both, '-l', 'fleet notin (red)', '-o', 'name')).out).toBe('configmap/blue-one\n');
    expect(await plan(both, '-l', 'fleet=green', '-o', 'name', '--exit-code')).toEqual({
      code: 0,
      out: '',
      err: 'no object of the files has the labels fleet=green\n',
    });
    expect((await plan(both, '-l', 'fleet in red')).code).toBe(2);
  });

  test('-o name names what would change as kubectl does', async () => {
    expect((await plan(map('d'), '-o', 'name')).out).toBe('configmap/a\n');
  });
});

const binaries = onReference ? await ensureReferenceBinaries({ build: false }) : undefined;
const kubectl = binaries && 'kubectl' in binaries ? binaries.kubectl : undefined;
test.skipIf(skipped(kubectl === undefined, 'names for kubectl: its program comes with the reference cluster'))(
  'kubectl takes every name of status -o name',
  async () => {
    const { out } = await status(['-o', 'name']);
    const argv = ['get', ...out.trim().split('\n'), '-o', 'name', '--kubeconfig', cluster.kubeconfig];
    const { stdout } = await promisify(execFile)(kubectl!, argv);
    expect(stdout).toBe(out);
  },
);

describe('explain', () => {
  test('without a reason lists all of them', async () => {
    const { code, out } = await call(['explain'], { operators: [operandOperator] });
    expect(code).toBe(0);
    expect(out).toMatch(/^OPERATOR +KIND +REASON +MEANING\n/);
    for (const { reason } of operandOperator.reasons)
      expect(out).toMatch(new RegExp(`^operand +\\w+ +${reason} `, 'm'));
  });
});

describe('version', () => {
  test('of client and server', async () => {
    const { code, out } = await call(['version', '--kubeconfig', cluster.kubeconfig]);
    expect(out).toMatch(/^Client Version: 9\.9\.9 \(Node v\d+\S+\)\nServer Version: v1\.\d+\.\S+\n$/);
    expect(code).toBe(0);
    const { out: json } = await call(['version', '-o', 'json', '--kubeconfig', cluster.kubeconfig]);
    expect(JSON.parse(json)).toEqual({
      clientVersion: '9.9.9',
      nodeVersion: process.version,
      serverVersion: expect.stringMatching(/^v1\./) as string,
    });
  });

  test('of the client alone with --client, and where there is no kubeconfig', async () => {
    for (const argv of [['version', '--client'], ['version']])
      expect(await call(argv)).toEqual({ code: 0, out: `Client Version: 9.9.9 (Node ${process.version})\n`, err: '' });
  });

  test('of a server that does not answer: the client, then the error', async () => {
    const server = { cluster: { server: 'http://127.0.0.1:9' }, name: 'c' };
    const config = { clusters: [server], contexts: [{ name: 'c', context: { cluster: 'c' } }], 'current-context': 'c' };
    const file = await cluster.file('down', JSON.stringify(config));
    const { code, out, err } = await call(['version', '--kubeconfig', file]);
    expect(out).toMatch(/^Client Version: 9\.9\.9/);
    expect(err).toMatch(/^slipway: no answer from http:\/\/127\.0\.0\.1:9 \(.*down, context "c"\): connect /);
    expect(code).toBe(3);
  });
});

describe('help', () => {
  test('has the flags of an operator only when it is named, under a heading of its own', async () => {
    const { out: general } = await call(['run', '--help'], { operators });
    expect(general).not.toContain('--depth');
    expect(general).toContain('Flags of an operator: slipway run OPERATOR --help\n');
    const { out: particular } = await call(['run', 'harbour', '--help'], { operators, columns: 200 });
    expect(particular).toMatch(
      /\nFlags of harbour:\n {2}--depth, --harbour-depth <integer> +How deep it is\. \(SLIPWAY_DEPTH, default: 5\)\n/,
    );
    expect(particular).not.toContain('Flags of operand:');
  });
});

describe('errors have one style', () => {
  test.each<[string[], string]>([
    [['frobnicate'], "slipway: unknown command 'frobnicate'\n  slipway --help lists the commands\n"],
    [
      ['init'],
      "slipway: unknown command 'init'\n  npm create slipway FOLDER begins an operator; slipway --help lists the commands\n",
    ],
    [
      ['upgrade', 'operand'],
      "slipway: unknown command 'upgrade'\n  slipway install brings what is installed up to date; slipway --help lists the commands\n",
    ],
    [
      ['chart', 'template', 'x', './web', '--post-renderer=./change'],
      "slipway: unknown option '--post-renderer=./change'\n  no program is run on manifests: print them with slipway chart template and change what it prints; slipway chart template --help lists its flags\n",
    ],
    [
      ['sops', '-d', 'a.yaml'],
      "slipway: unknown option '-d'\n  use slipway sops decrypt FILE; slipway sops --help lists its commands\n",
    ],
    [
      ['helmfile', 'lint', '-f', 'x'],
      "slipway: unknown command 'lint'\n(Did you mean list?)\n  slipway helmfile template renders every release; slipway chart lint looks a chart over; slipway helmfile --help lists its commands\n",
    ],
    [
      ['chart', 'show', 'repository'],
      "slipway: unknown command 'repository'\n  slipway chart show --help lists its commands\n",
    ],
    [
      ['chart', 'upgrade', 'shop', './web', '--wait=watcher'],
      "slipway: --wait is true or false, not 'watcher'\n  slipway chart upgrade --help lists its flags\n",
    ],
    [['up', '--frob'], "slipway: unknown option '--frob'\n  slipway up --help lists its flags\n"],
    [
      ['chart', 'install', '--frob'],
      "slipway: unknown option '--frob'\n  slipway chart install --help lists its flags\n",
    ],
    [
      ['up', '--port', 'x'],
      "slipway: --port must be a number from 0 to 65535, not 'x'\n  slipway up --help lists its flags\n",
    ],
    [
      ['run', '--log-format', 'xml'],
      "slipway: option '--log-format <format>' argument 'xml' is invalid. Allowed choices are text, json.\n  slipway run --help lists its flags\n",
    ],
  ])('%j names the subcommand', async (argv, err) => {
    expect(await call(argv)).toEqual({ code: 2, out: '', err });
  });
});

describe('completion asks for what only a kubeconfig or a cluster knows', () => {
  const asked = async (what: string, ...argv: string[]) =>
    (await call(['completion', what, '--kubeconfig', cluster.kubeconfig, ...argv], { operators })).out;

  test('the words: contexts, namespaces, and operators, kinds and names', async () => {
    expect(await asked('contexts')).toBe('slipway\n');
    expect((await asked('namespaces')).split('\n')).toEqual(expect.arrayContaining(['bay', 'default']));
    expect((await asked('objects')).split('\n')).toEqual(
      expect.arrayContaining(['operand', 'harbour', 'operands', 'boats', 'operand/hello', 'boat/ann']),
    );
  });

  test.skipIf(skipped(!hasBash, 'completion run by bash: there is no bash here'))('bash asks for them', async () => {
    const { out: script } = await call(['completion', 'bash'], { operators });
    const complete = async (...words: string[]) => {
      // In the place of the command stands a function that says what it was asked.
      const lines = [
        script,
        'slipway() { echo "asked-$2-of-$4"; }',
        `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`,
        '_slipway; echo "${COMPREPLY[*]}"',
      ];
      return (await promisify(execFile)('bash', ['-c', lines.join('\n')])).stdout.trim();
    };
    expect(await complete('slipway', 'status', '--context', '')).toBe('asked-contexts-of-');
    expect(await complete('slipway', 'status', '-n', 'asked')).toBe('asked-namespaces-of-');
    expect(await complete('slipway', 'status', 'asked')).toBe('asked-objects-of-');
    expect(await complete('slipway', 'status', '--context', 'moon', 'asked')).toBe('asked-objects-of-moon');
  });

  test('zsh and fish ask for the same', async () => {
    for (const shell of ['zsh', 'fish']) {
      const { out } = await call(['completion', shell], { operators });
      const asks = shell === 'zsh' ? '_slipway_asked ' : 'slipway completion ';
      for (const words of ['contexts', 'namespaces', 'objects']) expect(out).toContain(`${asks}${words}`);
    }
  });
});

describe('beside a running cluster', () => {
  test.each([
    ['that is in memory', []],
    ['that is kept in a folder', ['--data', 'kept']],
    ['whose kubeconfig is elsewhere', ['--kubeconfig', 'elsewhere']],
  ])('%s, other commands find it', async (_name, flags) => {
    await using home = await temporaryFolder();
    const options = { env: { HOME: home.path }, cwd: home.path };
    const running = new Call(['cluster', '--port', '0', ...flags], options);
    await running.says(/kubectl get/);
    const beside = await call(['version'], options);
    expect(beside.out).toContain('Server Version: v1.');
    expect(beside.err).toMatch(/^on the cluster of slipway that runs beside: .*\/kubeconfig-\d+\n$/);
    const second = new Call(['cluster', '--port', '0', '--kubeconfig', 'second'], options);
    await second.says(/kubectl get/);
    const torn = await call(['version'], options);
    expect(torn.err).toMatch(
      /^slipway: several clusters of slipway run: .*, .*\n {2}name the kubeconfig of one with --kubeconfig/,
    );
    expect(torn.code).toBe(3);
    await second.stop();
    await running.stop();
    expect((await call(['version'], options)).out).not.toContain('Server');
  });
});
