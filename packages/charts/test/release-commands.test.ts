import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Command, ConfigMap } from '@slipway/kube';
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
    /^NAME: shop\nLAST DEPLOYED: .*\nNAMESPACE: default\nSTATUS: deployed\nREVISION: 1\nDESCRIPTION: Install complete\nNOTES:\nSay hello\.\n$/,
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

test.each([
  ['history', ['none'], {}, /there is no release none in namespace default/],
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
