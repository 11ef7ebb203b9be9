import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KubeObject } from '@slipway/kube';
import { ensureReferenceBinaries } from '@slipway/reference-cluster';
import type { OperatorDescription } from '@slipway/runtime';
import { onReference, skipped } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

import { operatorFlag } from '../src/outside-operator.ts';
import { findOperators } from '../src/packages.ts';
import { Call, call, kubeconfigFor, servedCluster, type CallOptions, type ServedCluster } from './kit.ts';
import { outside } from './outside-package.ts';

/** An operator, and an object in which it says how things stand. */
interface Habit {
  readonly name: string;
  /** What every command is told besides. */
  readonly flag: readonly string[];
  /** Words for its kind, as kubectl takes them. */
  readonly words: readonly string[];
  /** `KIND.GROUP/NAME`. */
  readonly called: string;
  readonly object: KubeObject;
  /** What its operator says of it. */
  readonly status: { readonly conditions: readonly object[]; readonly [field: string]: unknown };
  /** The word for that. */
  readonly state: string;
}

/** The app platform shows Applications, which are a kind of Argo CD's. */
const applications = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: applications.argoproj.io }
spec:
  group: argoproj.io
  scope: Namespaced
  names: { kind: Application, listKind: ApplicationList, plural: applications, singular: application }
  versions:
    - name: v1alpha1
      served: true
      storage: true
      subresources: { status: {} }
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`;

/** What `plan` plans of an Operand is what it holds. */
function holding(name: string): object {
  const metadata = { name, namespace: 'default' };
  return { spec: { steadyState: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata }] } };
}

const fleet = 'red';
const tide = `the tide: ${'it comes and goes, '.repeat(20)}and comes`;
const since = '2026-01-02T03:04:05Z';
const notReady = {
  type: 'Ready',
  status: 'False',
  reason: 'Aground',
  message: tide,
  lastTransitionTime: since,
};

function sample(
  apiVersion: string,
  kind: string,
  name: string,
  namespace: string | undefined,
  rest: object,
): KubeObject {
  const labels = { fleet };
  return { apiVersion, kind, metadata: { name, labels, ...(namespace ? { namespace } : {}) }, ...rest };
}

const habits: readonly Habit[] = [
  {
    name: 'operand',
    flag: [],
    words: ['operands', 'Operand', 'op', 'operands.operand.run.cloud.google.com'],
    called: 'operand.operand.run.cloud.google.com/hello',
    object: sample('operand.run.cloud.google.com/v1alpha1', 'Operand', 'hello', undefined, { spec: {} }),
    status: { conditions: [notReady] },
    state: 'Aground',
  },
  {
    name: 'btp-manager',
    flag: [],
    words: ['btpoperators', 'BtpOperator', 'btpoperators.v1alpha1.operator.kyma-project.io'],
    called: 'btpoperator.operator.kyma-project.io/btpoperator',
    object: sample('operator.kyma-project.io/v1alpha1', 'BtpOperator', 'btpoperator', 'kyma-system', {}),
    status: { conditions: [notReady], state: 'Error' },
    state: 'Error',
  },
  {
    name: 'control-plane',
    flag: [],
    words: ['managedcontrolplanes', 'ManagedControlPlane', 'mcp', 'mcp.core.openmcp.cloud'],
    called: 'managedcontrolplane.core.openmcp.cloud/demo',
    object: sample('core.openmcp.cloud/v1alpha1', 'ManagedControlPlane', 'demo', 'team', {
      spec: { components: {} },
    }),
    status: { conditions: [{ ...notReady, managedBy: 'test' }], observedGeneration: 1, status: 'Not Ready' },
    state: 'Not Ready',
  },
  {
    name: 'app-platform',
    flag: [],
    words: ['applications', 'Application', 'applications.argoproj.io'],
    called: 'application.argoproj.io/shop',
    object: sample('argoproj.io/v1alpha1', 'Application', 'shop', 'argocd', { spec: { project: 'default' } }),
    status: {
      conditions: [{ type: 'SyncError', message: tide, lastTransitionTime: since }],
      sync: { status: 'OutOfSync' },
      health: { status: 'Degraded', lastTransitionTime: since },
    },
    state: 'OutOfSync, Degraded',
  },
  {
    name: 'buoy',
    flag: [`--${operatorFlag}`, './buoys'],
    words: ['buoys', 'Buoy', 'buoy.sea.example.org'],
    called: 'buoy.sea.example.org/first',
    object: sample('sea.example.org/v1', 'Buoy', 'first', 'bay', { spec: { colour: 'red' } }),
    status: { conditions: [notReady] },
    state: 'Aground',
  },
];

let ours: readonly OperatorDescription[];
let cluster: ServedCluster;
let project: Awaited<ReturnType<typeof outside>>;

beforeAll(async () => {
  ours = await findOperators();
  project = await outside();
  cluster = await servedCluster({
    controllers: 'none',
    crds: [applications, (await slipway(habits.at(-1)!, ['crds', ...names()])).out],
  });
  for (const name of new Set(habits.flatMap(({ object }) => object.metadata.namespace ?? [])))
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const habit of habits) await bring(habit);
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await project[Symbol.asyncDispose]();
});

const names = () => ours.map(({ name }) => name);
const on = (habit: Habit) => ['--kubeconfig', cluster.kubeconfig, ...habit.flag];

function slipway({ flag }: Habit, argv: readonly string[], options: CallOptions = {}) {
  return call([...argv, ...flag], { operators: ours, cwd: project.path, ...options });
}

async function status(habit: Habit, argv: readonly string[], options: CallOptions = {}): Promise<string> {
  const called = ['status', ...argv, '--kubeconfig', cluster.kubeconfig];
  const { code, out, err } = await slipway(habit, called, options);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

/** Makes the object, and lets its operator say that all is not well. */
async function bring({ object, status: said }: Pick<Habit, 'object' | 'status'>): Promise<void> {
  const { name = '', namespace } = object.metadata;
  await cluster.client.create(object);
  const kind = await cluster.client.resolve(object.apiVersion, object.kind);
  const change = { type: 'merge', body: { status: said } } as const;
  await cluster.client.patch(kind, { name, namespace }, change, { subresource: 'status' });
}

async function remove({ apiVersion, kind, metadata: { name = '', namespace } }: KubeObject): Promise<void> {
  await cluster.client.delete(await cluster.client.resolve(apiVersion, kind), { name, namespace });
}

const namespaceOf = ({ object }: Habit) => object.metadata.namespace;
const inItsNamespace = (habit: Habit) => (namespaceOf(habit) ? ['-n', namespaceOf(habit)!] : []);

describe.each(habits)('$name', (habit) => {
  const { called, object, name, words } = habit;
  const [kindWord = ''] = called.split('/');

  test('status: by operator, by every word for the kind and by KIND/NAME; -n, -A and -l', async () => {
    const line = `${called}\n`;
    const here = inItsNamespace(habit);
    for (const word of [name, ...words, called, `${object.kind}/${object.metadata.name}`])
      expect(await status(habit, [word, ...here, '-o', 'name'])).toBe(line);
    for (const word of [name, ...words]) {
      expect(await status(habit, [word, '-A', '-o', 'name'])).toBe(line);
      expect(await status(habit, [word, '-A', '-l', `fleet=${fleet}`, '-o', 'name'])).toBe(line);
      expect(await status(habit, [word, '-A', '-l', 'fleet=blue', '-o', 'name'])).toBe('');
    }
    // What is in no namespace is in all of them.
    expect(await status(habit, [name, '-n', 'kube-public', '-o', 'name'])).toBe(namespaceOf(habit) ? '' : line);
  });

  test('status: the namespace of the context', async () => {
    const config = JSON.parse(kubeconfigFor(cluster.cluster.url)) as { contexts: { context: object }[] };
    Object.assign(config.contexts[1]!.context, { namespace: namespaceOf(habit) ?? 'default' });
    const file = await cluster.file(`in-${name}`, JSON.stringify(config));
    const argv = ['status', name, '-o', 'name', '--kubeconfig', file, '--context', 'other'];
    expect((await slipway(habit, argv)).out).toBe(`${called}\n`);
  });

  test('status: JSON and YAML with apiVersion, namespace and conditions', async () => {
    const wanted = {
      operator: name,
      apiVersion: object.apiVersion,
      kind: object.kind,
      ...(namespaceOf(habit) ? { namespace: namespaceOf(habit) } : {}),
      name: object.metadata.name,
      state: habit.state,
      message: tide,
      since: new Date(since).toISOString(),
      conditions: habit.status.conditions,
    };
    expect(JSON.parse(await status(habit, [name, '-A', '-o', 'json']))).toEqual([wanted]);
    expect(parse(await status(habit, [name, '-A', '-o', 'yaml']))).toEqual([wanted]);
  });

  test('status: a message is cut on a terminal, and whole when piped or wide', async () => {
    const terminal = { interactive: true, columns: 120 };
    expect(await status(habit, [name, '-A'], { columns: 120 })).toContain(tide);
    expect(await status(habit, [name, '-A', '-o', 'wide'], terminal)).toContain(tide);
    const cut = await status(habit, [name, '-A'], terminal);
    expect(cut).toContain('…');
    for (const row of cut.split('\n')) expect(row.length).toBeLessThanOrEqual(120);
    expect(await status(habit, [name, '-A'], { ...terminal, colours: true })).toContain('\u001B[');
    expect(cut).not.toContain('\u001B[');
  });

  test('status -w: piped a line for each change, and its end', async () => {
    const other = { ...object, metadata: { ...object.metadata, labels: { fleet: 'green' } } };
    await remove(object);
    const watching = new Call(['status', name, '-A', '-w', '-l', 'fleet=green', ...on(habit)], {
      operators: ours,
      cwd: project.path,
    });
    await watching.says(/nothing is managed yet\n/);
    await bring({ ...habit, object: other });
    await watching.says(new RegExp(`^${name} +${object.kind} .*${tide}\\n`, 'm'));
    await remove(other);
    await watching.says(new RegExp(`^${name} +${object.kind} .* Gone `, 'm'));
    expect(await watching.stop()).toBe(0);
    expect(watching.out.match(/^OPERATOR /gm)).toHaveLength(1);
    await bring(habit);
  });

  test('plan: -f FILE, DIR and -, repeated; --exit-code 0, 1 and above', async () => {
    const folder = join(cluster.folder, name);
    await mkdir(folder, { recursive: true });
    const isOperand = object.kind === 'Operand';
    const text = (other: string) => {
      const metadata = { ...object.metadata, name: other };
      return JSON.stringify({ ...object, metadata, ...(isOperand ? holding(other) : {}) });
    };
    await writeFile(join(folder, 'one.json'), text('one'));
    await writeFile(join(cluster.folder, `${name}.yaml`), text('two'));
    const plan = (input: string, ...argv: string[]) => {
      const all = ['plan', '-f', '-', ...argv, '--exit-code', '-o', 'name', '--kubeconfig', cluster.kubeconfig];
      return call(all, { operators: ours, cwd: cluster.folder, input });
    };
    const { out, ...more } = await plan(text('three'), '-f', name, '-f', `${name}.yaml`);
    expect(more).toEqual({ code: 1, err: '' });
    const planned = ['one', 'three', 'two'].map((each) => `${isOperand ? 'configmap' : kindWord}/${each}`);
    expect(out.trim().split('\n').toSorted()).toEqual(planned);
    expect(await plan(JSON.stringify(object))).toEqual({ code: 0, err: '', out: '' });
    const refused = await plan(text('A_B'));
    expect(refused.code).toBeGreaterThan(1);
    expect(refused.err).toMatch(/^slipway: .*\n {2}\S/);
  });

  test('explain lists its reasons with what they mean, and says of each what to do', async () => {
    const { reasons } = habit.flag.length > 0 ? { reasons: [{ reason: 'Afloat' }] } : operatorCalled(name);
    const { out } = await slipway(habit, ['explain']);
    const listed = out.split('\n').flatMap((row) => {
      const [operator, , reason = ''] = row.split(/ {2,}/);
      return operator === name ? [reason] : [];
    });
    expect(listed.toSorted()).toEqual(reasons.map(({ reason }) => reason).toSorted());
    for (const reason of new Set(listed)) expect((await slipway(habit, ['explain', reason])).out).toContain(reason);
  });

  test('help has its flags only when it is named, under a heading of its own; --<operator>-<flag> is each one’s name', async () => {
    const flags = habit.flag.length > 0 ? [{ name: 'light' }] : (operatorCalled(name).flags ?? []);
    const wide = { columns: 400 };
    const { out } = await slipway(habit, ['run', name, '--help'], wide);
    const [, section = ''] = out.split(`\nFlags of ${name}:\n`);
    const rows = section.split('\n\n')[0]!.split('\n');
    expect(rows.flatMap((row) => /--(\S+)(?: <| {2}|$)/.exec(row)?.[1] ?? [])).toEqual(
      flags.map((flag) => `${name}-${flag.name}`),
    );
    for (const other of names().filter((each) => each !== name)) expect(out).not.toContain(`Flags of ${other}:`);
    const { out: general } = await call(['run', '--help'], { operators: ours, ...wide });
    for (const flag of flags) expect(general).not.toContain(`--${name}-${flag.name} `);
  });

  test('a flag by its full name, and by its bare one where nothing else is called so, reaches the pods alike', async () => {
    const flag = name === 'buoy' ? 'light' : operatorCalled(name).flags!.find(({ type }) => type === 'string')!.name;
    const printed = async (...argv: string[]) => (await slipway(habit, ['install', name, '--print', ...argv])).out;
    const full = await printed(`--${name}-${flag}`, 'x');
    expect(full).toContain(`${name}-${flag}: x\n`);
    expect(await printed(`--${flag}`, 'x')).toBe(full);
  });

  test('completion knows its name, its kinds and its objects', async () => {
    const argv = ['completion', 'objects', '--kubeconfig', cluster.kubeconfig];
    const config = JSON.parse(kubeconfigFor(cluster.cluster.url)) as { contexts: { context: object }[] };
    Object.assign(config.contexts[0]!.context, { namespace: namespaceOf(habit) ?? 'default' });
    argv[3] = await cluster.file(`completing-${name}`, JSON.stringify(config));
    const { operator } = await loaded(habit);
    const { out } = await call(argv, { operators: [...ours.filter((each) => each !== operator), operator] });
    expect(out.split('\n')).toEqual(
      expect.arrayContaining([name, ...words.slice(0, 1), `${object.kind.toLowerCase()}/${object.metadata.name}`]),
    );
  });

  test('crds and rbac are about it alone', async () => {
    const { operator } = await loaded(habit);
    const documents = async (command: string) =>
      parseAllDocuments((await slipway(habit, [command, name])).out).flatMap(
        (document) => (document.toJS() as KubeObject | null) ?? [],
      );
    const definitions = (await documents('crds')).map(({ metadata }) => metadata.name);
    expect(definitions).toEqual(operator.kinds.map(({ plural, group }) => `${plural}.${group}`));
    const accounts = (await documents('rbac')).filter(({ kind }) => kind === 'ServiceAccount');
    expect(accounts.map(({ metadata }) => metadata.name)).toEqual([`slipway-${name}`]);
  });

  test.each(['status', 'run', 'check', 'install', 'crds', 'rbac', 'explain'])(
    '%s: a flag that is none is told by one line, and the next names the subcommand',
    async (command) => {
      expect(await slipway(habit, [command, '--frob'])).toEqual({
        code: 2,
        out: '',
        err: `slipway: unknown option '--frob'\n  slipway ${command} --help lists its flags\n`,
      });
    },
  );
});

function operatorCalled(name: string): OperatorDescription {
  return ours.find((operator) => operator.name === name)!;
}

/** The operator itself, from wherever it comes. */
async function loaded({ name, flag }: Habit): Promise<{ operator: OperatorDescription }> {
  if (flag.length === 0) return { operator: operatorCalled(name) };
  const { loadOutsideOperator } = await import('../src/outside-operator.ts');
  return await loadOutsideOperator(flag[1]!, project.path);
}

const binaries = onReference ? await ensureReferenceBinaries({ build: false }) : undefined;
const kubectl = binaries && 'kubectl' in binaries ? binaries.kubectl : undefined;
test.skipIf(skipped(kubectl === undefined, 'names for kubectl: its program comes with the reference cluster'))(
  'kubectl takes the name of every operator’s object',
  async () => {
    for (const habit of habits) {
      const here = inItsNamespace(habit);
      const out = await status(habit, [habit.name, ...here, '-o', 'name']);
      const argv = ['get', ...out.trim().split('\n'), ...here, '-o', 'name', '--kubeconfig', cluster.kubeconfig];
      expect((await promisify(execFile)(kubectl!, argv)).stdout).toBe(out);
    }
  },
);
