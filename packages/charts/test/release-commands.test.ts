import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Command, ConfigMap, Job } from '@slipway/kube';
import { testCluster, type TestCluster } from '@slipway/testing';
import { callCommand, type CommandOutcome } from '@slipway/testing/command';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { command } from '../src/command/chart-command.ts';

const files = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\nappVersion: "2"\n',
  'values.yaml': 'greeting: hello\n',
  'templates/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shop-config\ndata:\n  greeting: {{ .Values.greeting | quote }}\n',
  'templates/NOTES.txt': 'Say {{ .Values.greeting }}.',
};

let folder: string;
let cluster: TestCluster;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chart-command-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, 'shop', name)), { recursive: true });
    await writeFile(join(folder, 'shop', name), text);
  }
  cluster = await testCluster();
});
afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function call(name: string, args: readonly string[], given: object = {}): Promise<string> {
  const { out } = await callCommand(command as Command, name, args, given, {
    cwd: folder,
    clock: cluster.clock,
    cluster,
  });
  return out;
}

async function diff(given: object = {}): Promise<CommandOutcome> {
  const where = { cwd: folder, clock: cluster.clock, cluster };
  return await callCommand(command as Command, 'diff', ['shop', 'shop'], given, where);
}

test('install, list, upgrade, history, rollback and uninstall print what Helm prints', async () => {
  const installed = await call('install', ['shop', 'shop']);
  expect(installed).toMatch(
    /^NAME: shop\nLAST DEPLOYED: .*\nNAMESPACE: default\nSTATUS: deployed\nREVISION: 1\nDESCRIPTION: Install complete\nTEST SUITE: None\nNOTES:\nSay hello\.\n$/,
  );
  expect(await call('list', [])).toMatch(
    /^NAME\tNAMESPACE\tREVISION\t.*\nshop\tdefault  \t1 +\t.*\tdeployed\tshop-1\.0\.0\t2\n$/,
  );
  expect(await call('upgrade', ['shop', 'shop'], { set: ['greeting=bye'] })).toContain('REVISION: 2');
  expect((await cluster.client.get(ConfigMap, { namespace: 'default', name: 'shop-config' }))?.data).toEqual({
    greeting: 'bye',
  });
  expect(await call('rollback', ['shop'])).toBe('Rollback was a success.\n');
  const history = JSON.parse(await call('history', ['shop'], { output: 'json' })) as {
    revision: number;
    description: string;
  }[];
  expect(history.map(({ revision, description }) => `${revision} ${description}`)).toEqual([
    '1 Install complete',
    '2 Upgrade complete',
    '3 Rollback to 1',
  ]);
  expect(await call('uninstall', ['shop'])).toBe('release "shop" uninstalled\n');
  expect(await call('list', [], { output: 'name' })).toBe('');
});

test('-o json and -o yaml print the release without its values and objects, and --atomic undoes what fails', async () => {
  const printed = await call('install', ['shop', 'shop'], { output: 'json', set: ['greeting=hunter2'] });
  expect(JSON.parse(printed)).toMatchObject({
    name: 'shop',
    namespace: 'default',
    version: 1,
    info: { status: 'deployed', description: 'Install complete' },
    chart: { metadata: { name: 'shop', version: '1.0.0' } },
  });
  expect(printed.replace(/"notes":"[^"]*"/, '')).not.toContain('hunter2');
  await writeFile(
    join(folder, 'shop/templates/bad.yaml'),
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: No Name}\n',
  );
  await expect(call('upgrade', ['shop', 'shop'], { atomic: true })).rejects.toThrow(
    'has been rolled back to revision 1',
  );
  await rm(join(folder, 'shop/templates/bad.yaml'));
  expect(await call('upgrade', ['shop', 'shop'], { output: 'yaml' })).toContain('\nversion: 4\n');
});

test('an integer given with --set stays one in the templates of an installed chart', async () => {
  await call('install', ['shop', 'shop'], { set: ['greeting=1000000'] });
  const installed = await cluster.client.get(ConfigMap, { namespace: 'default', name: 'shop-config' });
  expect(installed?.data).toEqual({ greeting: '1000000' });
});

test('diff shows what an upgrade would change, without secrets, and writes nothing', async () => {
  await writeFile(
    join(folder, 'shop/templates/secret.yaml'),
    'apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop-secret\nstringData:\n  greeting: {{ .Values.greeting }}\n',
  );
  await writeFile(
    join(folder, 'shop/templates/hook.yaml'),
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shop-hook\n  annotations: {helm.sh/hook: pre-upgrade}\ndata: {say: {{ .Values.greeting }}}\n',
  );
  await expect(diff()).rejects.toThrow(/has no deployed releases/);
  const fresh = await diff({ install: true });
  expect(fresh.out).toContain('install default/shop\n');
  expect(fresh.out).toContain('+   greeting: (hidden, after)\n');
  await call('install', ['shop', 'shop'], { set: ['greeting=hunter2'] });
  expect(await diff({ 'reuse-values': true, 'detailed-exitcode': true })).toMatchObject({ out: '', code: 0 });

  const changed = await diff({ set: ['greeting=hunter3'], 'detailed-exitcode': true });
  expect(changed.code).toBe(2);
  expect(changed.out).toContain('upgrade default/shop\n');
  expect(changed.out).toContain('ConfigMap default/shop-config (v1) changed:\n');
  expect(changed.out).toContain('-   greeting: hunter2\n+   greeting: hunter3\n');
  expect(changed.out).toContain('-   greeting: (hidden, before)\n+   greeting: (hidden, after)\n');
  expect(changed.out).toContain('ConfigMap default/shop-hook (v1) changed:\n');
  expect((await diff({ set: ['greeting=hunter3'], 'no-hooks': true })).out).not.toContain('shop-hook');
  expect(await diff({ set: ['greeting=hunter3'] })).toMatchObject({ code: 0 });
  expect(JSON.parse(await call('history', ['shop'], { output: 'json' }))).toHaveLength(1);
});

test('diff says that an upgrade is due where the last one failed, although no object differs', async () => {
  await call('install', ['shop', 'shop']);
  await writeFile(join(folder, 'shop/templates/bad.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: BAD}\n');
  await expect(call('upgrade', ['shop', 'shop'])).rejects.toThrow(/BAD/);
  await rm(join(folder, 'shop/templates/bad.yaml'));
  const { out, code } = await diff({ 'detailed-exitcode': true });
  expect(code).toBe(2);
  expect(out).toMatch(/^upgrade default\/shop\nthe last revision did not succeed/);
});

test('get, status and history print what is recorded of any revision', async () => {
  await call('install', ['shop', 'shop'], { set: ['greeting=hi', 'count=1000000'], labels: ['team=x'] });
  await call('upgrade', ['shop', 'shop'], { description: 'nothing new' });
  await call('rollback', ['shop', '1'], { description: 'back' });
  expect(await call('get values', ['shop'], { revision: 1 })).toBe(
    'USER-SUPPLIED VALUES:\ncount: 1000000\ngreeting: hi\n',
  );
  await call('upgrade', ['shop', 'shop'], { 'reset-values': true });
  expect(await call('get values', ['shop'])).toBe('USER-SUPPLIED VALUES:\nnull\n');
  expect(await call('get values', ['shop'], { output: 'json' })).toBe('null\n');
  expect(await call('get values', ['shop'], { all: true })).toBe('COMPUTED VALUES:\ngreeting: hello\n');
  expect(await call('get values', ['shop'], { all: true, revision: 1, output: 'json' })).toBe(
    '{"count":1000000,"greeting":"hi"}\n',
  );
  expect(await call('get notes', ['shop'], { revision: 1 })).toBe('NOTES:\nSay hi.\n');
  expect(await call('get hooks', ['shop'])).toBe('');
  expect(await call('get manifest', ['shop'], { revision: 1 })).toContain('greeting: "hi"');
  const metadata = JSON.parse(await call('get metadata', ['shop'], { revision: 1, output: 'json' })) as object;
  expect(metadata).toMatchObject({ name: 'shop', version: '1.0.0', labels: { team: 'x' }, applyMethod: 'ssa' });
  expect(await call('get metadata', ['shop'])).toContain('LABELS: team=x\nDEPENDENCIES: \nNAMESPACE: default\n');
  const all = await call('get all', ['shop'], { revision: 1 });
  for (const part of [
    'CHART: shop\n',
    'USER-SUPPLIED VALUES:\ncount',
    'COMPUTED VALUES:\ncount',
    'HOOKS:\nMANIFEST:\n---\n',
  ])
    expect(all).toContain(part);

  const status = await call('status', ['shop']);
  expect(status).toContain(
    'STATUS: deployed\nREVISION: 4\nDESCRIPTION: Upgrade complete\nRESOURCES:\n==> v1/ConfigMap\n',
  );
  expect(status).toMatch(/\nNAME +DATA +AGE\nshop-config +1 +\S+\n/);
  expect(JSON.parse(await call('status', ['shop'], { output: 'json', revision: 3 }))).toMatchObject({
    info: {
      status: 'superseded',
      rollback_revision: 1,
      resources: { 'v1/ConfigMap': [{ data: { greeting: 'hello' } }] },
    },
    config: { greeting: 'hi' },
    version: 3,
  });
  const history = await call('history', ['shop'], { max: 2, 'show-rollback-revision': true });
  expect(history.split('\n').map((line) => line.split(/ *\t/).slice(5))).toEqual([
    ['ROLLBACK', 'DESCRIPTION'],
    ['1', 'back'],
    ['', 'Upgrade complete'],
    [],
  ]);
});

test('a dry run prints what would be, and leaves everything as it is', async () => {
  const planned = await call('install', ['shop', 'shop'], { 'dry-run': 'server' });
  expect(planned).toContain('STATUS: pending-install\nREVISION: 1\nDESCRIPTION: Dry run complete\n');
  expect(planned).toContain('HOOKS:\nMANIFEST:\n---\n# Source: shop/templates/config.yaml\n');
  expect(await call('list', [], { output: 'name' })).toBe('');
  const where = { cwd: folder, clock: cluster.clock };
  const offline = await callCommand(
    command as Command,
    'install',
    ['shop', 'shop'],
    { 'dry-run': 'client', namespace: 'default' },
    where,
  );
  expect(offline.out).toBe(planned);

  await call('install', ['shop', 'shop']);
  const upgraded = await call('upgrade', ['shop', 'shop'], { 'dry-run': 'client', set: ['greeting=bye'] });
  expect(upgraded).toContain('STATUS: pending-upgrade\nREVISION: 2\n');
  expect(upgraded).toContain('greeting: "bye"');
  await call('upgrade', ['shop', 'shop']);
  expect(await call('rollback', ['shop'], { 'dry-run': 'client' })).toBe(
    'Release "shop" would be rolled back to revision 1.\n',
  );
  expect(await call('uninstall', ['shop'], { 'dry-run': true })).toBe(
    'ConfigMap default/shop-config would be deleted\nrelease "shop" would be uninstalled\n',
  );
  expect(JSON.parse(await call('history', ['shop'], { output: 'json' }))).toHaveLength(2);
  await expect(call('install', ['other', 'shop'], { 'dry-run': 'server' })).rejects.toThrow(/cannot be imported/);
  await expect(call('upgrade', ['other', 'shop'], { 'dry-run': 'server' })).rejects.toThrow(/no deployed releases/);
});

test('with --hide-secret no Secret is in what a dry run prints', async () => {
  await writeFile(
    join(folder, 'shop/templates/secret.yaml'),
    'apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop-secret\nstringData:\n  word: hunter2\n',
  );
  const shown = await call('install', ['shop', 'shop'], { 'dry-run': 'client' });
  expect(shown).toContain('hunter2');
  const hidden = await call('install', ['shop', 'shop'], { 'dry-run': 'client', 'hide-secret': true });
  expect(hidden).toContain('# Source: shop/templates/secret.yaml\n# HIDDEN: The Secret output has been suppressed\n');
  expect(hidden).not.toContain('hunter2');
  await expect(call('install', ['shop', 'shop'], { 'hide-secret': true })).rejects.toThrow('belongs to --dry-run');
});

test('a release is named by its chart and the time, or by a template', async () => {
  const seconds = Math.floor(cluster.clock.now() / 1000);
  expect(await call('install', ['./shop'], { 'generate-name': true, 'dry-run': 'client' })).toContain(
    `NAME: shop-${seconds}\n`,
  );
  expect(await call('install', ['shop'], { 'name-template': 'a-{{ 1 }}', 'dry-run': 'client' })).toContain(
    'NAME: a-1\n',
  );
});

test('notes of subcharts are printed when they are asked for, and none with --hide-notes', async () => {
  await mkdir(join(folder, 'shop/charts/inner/templates'), { recursive: true });
  await writeFile(join(folder, 'shop/charts/inner/Chart.yaml'), 'apiVersion: v2\nname: inner\nversion: 1.0.0\n');
  await writeFile(join(folder, 'shop/charts/inner/templates/NOTES.txt'), 'Mind the gap.');
  expect(await call('install', ['shop', 'shop'])).not.toContain('Mind the gap.');
  expect(await call('upgrade', ['shop', 'shop'], { 'render-subchart-notes': true })).toContain('Mind the gap.');
  expect(await call('upgrade', ['shop', 'shop'], { 'hide-notes': true })).not.toContain('NOTES:');
});

test('test runs the tests of a release by weight, records them, and fails with the first that fails', async () => {
  const hook = (name: string, weight: number, more = '') =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  annotations: {helm.sh/hook: test, helm.sh/hook-weight: "${weight}"}\n${more}`;
  await writeFile(
    join(folder, 'shop/templates/tests.yaml'),
    [hook('second', 2), hook('first', 1), hook('third', 3, 'data: {{ .Values.bad | default dict | toJson }}\n')].join(
      '---\n',
    ),
  );
  await call('install', ['shop', 'shop']);
  expect(await call('status', ['shop'])).not.toContain('TEST SUITE');
  const one = await call('test', ['shop'], { filter: ['name=first'] });
  expect(one.match(/TEST SUITE: +\w+|Phase: +\w+/g)).toEqual(['TEST SUITE:     first', 'Phase:          Succeeded']);
  expect(one).not.toContain('NOTES');
  expect((await call('test', ['shop'], { filter: ['!name=third'] })).match(/TEST SUITE: +\w+/g)).toHaveLength(2);
  expect(await call('status', ['shop'])).toContain('TEST SUITE:     second');
  await call('upgrade', ['shop', 'shop'], { 'set-json': ['bad={"a":{"b":"c"}}'] });
  await expect(call('test', ['shop'])).rejects.toThrow('a hook failed');
  expect((await call('status', ['shop'])).match(/Phase: +\w+/g)).toEqual([
    'Phase:          Succeeded',
    'Phase:          Succeeded',
    'Phase:          Failed',
  ]);
  expect(await call('list', [], { deployed: true, short: true })).toBe('shop\n');
});

test('list chooses releases by status, name and labels, and prints them in any order', async () => {
  for (const [name, team] of [
    ['b', 'one'],
    ['a', 'two'],
    ['c', 'one'],
  ] as const) {
    await writeFile(
      join(folder, 'shop/templates/config.yaml'),
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`,
    );
    await call('install', [name, 'shop'], { labels: [`team=${team}`] });
    await cluster.advance(2000);
  }
  await call('upgrade', ['c', 'shop']);
  await call('uninstall', ['a'], { 'keep-history': true });
  const names = async (given: object): Promise<string> =>
    (await call('list', [], { short: true, ...given })).trim().replaceAll('\n', ' ');
  expect(await names({})).toBe('a b c');
  expect(await names({ deployed: true })).toBe('b c');
  expect(await names({ uninstalled: true, failed: true })).toBe('a');
  expect(await names({ superseded: true })).toBe('c');
  expect(await names({ pending: true })).toBe('');
  expect(await names({ filter: '^[ab]$' })).toBe('a b');
  expect(await names({ selector: 'team=one' })).toBe('b c');
  expect(await names({ selector: 'team!=one' })).toBe('a');
  expect(await names({ reverse: true })).toBe('c b a');
  expect(await names({ date: true })).toBe('b a c');
  expect(await names({ max: 1, offset: 1 })).toBe('b');
  expect(await names({ max: 0 })).toBe('a b c');
  expect(await names({ output: 'json' })).toBe('["a","b","c"]');
  expect(await call('list', [], { 'no-headers': true, 'time-format': '2006', filter: 'a' })).toMatch(
    /^a\tdefault\t1\t\d{4}\tuninstalled\tshop-1\.0\.0\t2\n$/,
  );
  await expect(call('list', [], { filter: '(' })).rejects.toThrow('--filter');
});

test('--wait is content with a Job that has started, --wait-for-jobs is not', async () => {
  const job = `apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec: {managedBy: example.com/this-test, template: {spec: {restartPolicy: Never, containers: [{name: once, image: "once:1"}]}}}
`;
  await writeFile(join(folder, 'shop/templates/job.yaml'), job);
  await call('install', ['shop', 'shop']);
  await expect(call('upgrade', ['shop', 'shop'], { wait: true, timeout: 0 })).rejects.toThrow('it has not started');
  const body = { status: { startTime: new Date(cluster.clock.now()).toISOString(), active: 1 } };
  const key = { namespace: 'default', name: 'once' };
  await cluster.client.patch(Job, key, { type: 'merge', body }, { subresource: 'status' });
  const waiting = { wait: true, timeout: 0 };
  expect(await call('upgrade', ['shop', 'shop'], waiting)).toContain('STATUS: deployed');
  await expect(call('upgrade', ['shop', 'shop'], { ...waiting, 'wait-for-jobs': true })).rejects.toThrow(
    '0 of 1 completed',
  );
});

test('a rollback that fails with --cleanup-on-fail leaves nothing it made', async () => {
  const hook =
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hook\n  annotations: {helm.sh/hook: post-rollback}\ndata: {a: {b: c}}\n';
  await writeFile(join(folder, 'shop/templates/hook.yaml'), hook);
  await writeFile(
    join(folder, 'shop/templates/extra.yaml'),
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n',
  );
  await call('install', ['shop', 'shop']);
  await rm(join(folder, 'shop/templates/extra.yaml'));
  await call('upgrade', ['shop', 'shop']);
  const extra = async () => await cluster.client.get(ConfigMap, { namespace: 'default', name: 'extra' });
  await expect(call('rollback', ['shop', '1'], { 'cleanup-on-fail': true })).rejects.toThrow('a hook failed');
  expect(await extra()).toBeUndefined();
  await expect(call('rollback', ['shop', '1'])).rejects.toThrow('a hook failed');
  expect(await extra()).toBeDefined();
});

test('uninstall --cascade=orphan leaves what the objects own', async () => {
  await call('install', ['shop', 'shop']);
  const config = (await cluster.client.get(ConfigMap, { namespace: 'default', name: 'shop-config' }))!;
  const { name, uid } = config.metadata as { name: string; uid: string };
  const ownerReferences = [{ apiVersion: 'v1', kind: ConfigMap.kind, name, uid }];
  const metadata = { name: 'owned', namespace: 'default', ownerReferences };
  await cluster.client.create({ apiVersion: 'v1', kind: ConfigMap.kind, metadata });
  await call('uninstall', ['shop'], { cascade: 'orphan' });
  const orphan = await cluster.eventually('it is nobody’s', async () => {
    const found = await cluster.client.get(ConfigMap, { namespace: 'default', name: 'owned' });
    return found?.metadata.ownerReferences?.length ? undefined : { found };
  });
  expect(orphan.found).toBeDefined();
});

test('--dependency-update fetches what charts/ lacks, where install refuses without it', async () => {
  await mkdir(join(folder, 'inner'), { recursive: true });
  await writeFile(join(folder, 'inner/Chart.yaml'), 'apiVersion: v2\nname: inner\nversion: 1.0.0\n');
  const dependency = 'dependencies: [{name: inner, version: 1.0.0, repository: "file://../inner"}]\n';
  await writeFile(join(folder, 'shop/Chart.yaml'), files['Chart.yaml'] + dependency);
  await expect(call('install', ['shop', 'shop'])).rejects.toThrow('missing in charts/ directory: inner');
  expect(await call('install', ['shop', 'shop'], { 'dependency-update': true })).toContain('STATUS: deployed');
  expect(await call('upgrade', ['shop', 'shop'])).toContain('STATUS: deployed');
});

test.each([
  ['history', ['none'], {}, /there is no release none in namespace default/],
  ['status', ['none'], {}, /there is no release none in namespace default/],
  ['get values', ['none'], {}, /there is no release none in namespace default/],
  ['test', ['none'], {}, /there is no release none in namespace default/],
  ['test', ['none'], { filter: ['first'] }, /--filter: 'first' is neither/],
  ['install', ['shop'], {}, /must either provide a name or specify --generate-name/],
  ['install', ['shop', 'shop'], { 'generate-name': true }, /cannot set --generate-name and also specify a name/],
  ['uninstall', ['none'], {}, /there is no release none in namespace default/],
  ['rollback', ['shop', 'two'], {}, /'two' is no revision/],
  ['upgrade', ['none', 'shop'], {}, /has no deployed releases/],
  [
    'upgrade',
    ['none', 'shop'],
    { 'reset-values': true, 'reuse-values': true },
    /only one of --reset-values, --reuse-values/,
  ],
  ['install', ['shop', 'nowhere'], {}, /nowhere/],
  ['install', ['shop', 'shop'], { labels: ['x'] }, /--labels: 'x' is not key=value/],
] as [string, string[], object, RegExp][])('%s %j with %j says what is wrong', async (name, args, flags, message) => {
  await expect(call(name, args, flags)).rejects.toThrow(message);
});
