import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseManifests } from '@slipway/manifests';
import { operandOperator } from '@slipway/operand';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import {
  Call,
  call,
  kubeconfigFor,
  servedCluster,
  stranger,
  strangersOnly,
  temporaryFolder,
  type ServedCluster,
} from './kit.ts';

const nobodyThere = 'http://127.0.0.1:9';

const connected = [['run'], ['status'], ['plan', '-f', 'file.yaml'], ['install'], ['uninstall']];
const someObject = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: default }\ndata: { a: b }\n';

describe.each(connected)('%s', (...argv) => {
  test('a kubeconfig that is not there: 3', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'file.yaml'), someObject);
    const { code, err } = await call([...argv, '--kubeconfig', 'nowhere'], { cwd: folder.path });
    expect(err).toMatch(/^slipway: .*nowhere.*\n {2}name a kubeconfig with --kubeconfig FILE/);
    expect(code).toBe(3);
  });

  test('a context that is not there: 3', async () => {
    await using cluster = await servedCluster({ controllers: 'none' });
    await cluster.file('file.yaml', someObject);
    const { code, err } = await call([...argv, '--kubeconfig', cluster.kubeconfig, '--context', 'moon'], {
      cwd: cluster.folder,
    });
    expect(err).toMatch(/^slipway: .*there is no context "moon".*slipway.*\n {2}choose another with --context NAME/);
    expect(code).toBe(3);
  });

  test('credentials that are not, or no longer, accepted: 4', async () => {
    await using cluster = await servedCluster({ controllers: 'none', ...strangersOnly });
    await cluster.file('file.yaml', someObject);
    const file = await cluster.file('expired', kubeconfigFor(cluster.cluster.url, 'yesterday'));
    const { code, err } = await call([...argv, '--kubeconfig', file], { cwd: cluster.folder });
    expect(err).toBe(
      `slipway: ${cluster.cluster.url} does not accept these credentials\n  check the user of the kubeconfig context: ` +
        'credentials that have run out have to be renewed, as by logging in again\n',
    );
    expect(err).not.toContain('yesterday');
    expect(code).toBe(4);
  });

  test('a cluster that does not answer: 3', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'file.yaml'), someObject);
    await writeFile(join(folder.path, 'config'), kubeconfigFor(nobodyThere));
    const { code, err } = await call([...argv, '--context', 'other'], {
      cwd: folder.path,
      env: { KUBECONFIG: join(folder.path, 'config') },
    });
    expect(err).toMatch(
      /^slipway: no answer from http:\/\/127\.0\.0\.1:9 \(.*config, context "other"\): connect .*:9\n {2}is the cluster running/,
    );
    expect(code).toBe(3);
  });

  test('a cluster where one may do nothing: 4', async () => {
    await using cluster = await servedCluster({ ...strangersOnly, crds: await definitions() });
    await cluster.file('file.yaml', someObject);
    const { code, err } = await call([...argv, '--kubeconfig', await stranger(cluster)], { cwd: cluster.folder });
    expect(err).toMatch(/^slipway: /m);
    expect(code).toBe(4);
  });
});

async function definitions(): Promise<string[]> {
  return [(await call(['crds'])).out];
}

test('run on a cluster without the definitions: 5', async () => {
  await using cluster = await servedCluster();
  const { code, err } = await call(['run', '--kubeconfig', cluster.kubeconfig]);
  expect(err).toMatch(/slipway: the cluster does not know operands\..*\n {2}run with --install-crds/);
  expect(code).toBe(5);
});

test('run --install-crds on a cluster where another definition has the names: 1, at once', async () => {
  const other = (await call(['crds'])).out
    .split('---\n')[0]!
    .replaceAll('operands', 'others')
    .replace('plural: others', 'plural: others');
  await using cluster = await servedCluster({ crds: [other] });
  const { code, err } = await call([
    'run',
    '--install-crds',
    '--kubeconfig',
    cluster.kubeconfig,
    '--log-level',
    'error',
  ]);
  expect(err).toMatch(/^slipway: the cluster does not serve operands\.\S+: .*\n {2}kubectl describe/);
  expect(code).toBe(1);
});

test('run without the permissions names the missing ones and how to grant them', async () => {
  await using cluster = await servedCluster({ ...strangersOnly, crds: await definitions() });
  const { err } = await call(['run', '--kubeconfig', await stranger(cluster)]);
  expect(err).toContain('not allowed to list operands.operand.run.cloud.google.com');
  expect(err).toContain('slipway rbac operand | kubectl apply -f -');
});

test('run does not ask for rights on a kind the operator only brings', async () => {
  await using cluster = await servedCluster({ ...strangersOnly, crds: await definitions() });
  const { kinds, permissions } = operandOperator;
  const own = permissions.filter(
    ({ apiGroups = [] }) => !apiGroups.includes(kinds[0]!.group) && !apiGroups.includes('*'),
  );
  const silent = { ...operandOperator, permissions: own, controllers: () => [] };
  const running = new Call(['run', '--kubeconfig', await stranger(cluster)], { operators: [silent] });
  await running.says(/"msg":"ready"/);
  expect(await running.stop()).toBe(0);
});

describe('run', () => {
  test('an operator that cannot do its work ends the process when it is the only one, and is logged beside others', async () => {
    await using cluster = await servedCluster();
    const flags = ['--kubeconfig', cluster.kubeconfig, '--install-crds'];
    const stuck = { ...operandOperator, obstacle: () => 'NothingToDo: give it something' };
    const alone = await call(['run', 'operand', ...flags], { operators: [stuck] });
    expect(alone).toMatchObject({ code: 1, err: 'slipway: operand: NothingToDo: give it something\n' });
    const other = { ...operandOperator, name: 'other', kinds: [], flags: [], controllers: () => [] };
    const together = new Call(['run', ...flags], { operators: [stuck, other] });
    await together.says(/"operator":"operand","obstacle":"NothingToDo: give it something"/);
    await together.says(/"msg":"ready"/);
    expect(await together.stop()).toBe(0);
  });

  test('--install-crds, probes, metrics and leader election, until Ctrl-C', async () => {
    await using cluster = await servedCluster();
    const running = new Call([
      'run',
      'operand',
      '--kubeconfig',
      cluster.kubeconfig,
      '--install-crds',
      '--health-port',
      '0',
      '--metrics-port',
      '0',
      '--leader-elect',
      '--leader-election-namespace',
      'default',
      '--verbose',
      '--log-level',
      'debug',
    ]);
    const [, health, metrics] = await running.says(/"ports":\{"health":(\d+),"metrics":(\d+)\}.*"msg":"ready"/);
    // Some kinds are watched only once the controllers run.
    await expect.poll(async () => (await fetch(`http://127.0.0.1:${health}/readyz`)).status).toBe(200);
    expect(await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()).toContain('# HELP');
    const lease = await cluster.client.request({
      method: 'GET',
      path: '/apis/coordination.k8s.io/v1/namespaces/default/leases/slipway-operand',
    });
    expect(lease).toHaveProperty('spec.holderIdentity');
    for (const object of parseManifests(operandOperator.examples[0]!.manifest, { source: 'example' }))
      await cluster.client.create(object);
    await ready(cluster);
    expect(await running.stop()).toBe(0);
    const lines = running.err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toContainEqual(
      expect.objectContaining({ msg: 'setting', name: 'health-port', value: '0', from: '--health-port' }),
    );
    expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
  });

  test('a probe port in use', async () => {
    await using cluster = await servedCluster({ crds: await definitions() });
    const { port } = new URL(cluster.cluster.url);
    const { code, err } = await call([
      'run',
      '--kubeconfig',
      cluster.kubeconfig,
      '--metrics-port',
      port,
      '--log-level',
      'error',
    ]);
    expect(err).toMatch(/^slipway: cannot listen on .*EADDRINUSE.*\n {2}choose another port with --health-port N/);
    expect(code).toBe(1);
  });
});

/** Watches until the example's Operand is ready. */
async function ready(cluster: ServedCluster): Promise<void> {
  const watching = new Call(['status', '-w', '--kubeconfig', cluster.kubeconfig, '-o', 'json']);
  await watching.says(/"kind":"Operand","name":"hello","state":"Ready"/);
  expect(await watching.stop()).toBe(0);
}

describe('status', () => {
  test('says what is not installed, and that nothing is managed', async () => {
    await using cluster = await servedCluster();
    const { code, out, err } = await call(['status', '-A', '--kubeconfig', cluster.kubeconfig]);
    expect({ code, out }).toEqual({ code: 0, out: 'nothing is managed yet\n' });
    expect(err).toBe('not installed here: operand (slipway run --install-crds)\n');
  });

  test('names a definition that is missing while its operator is there', async () => {
    const [all = ''] = await definitions();
    const rest = all.split(/^---\n/m).filter((crd) => !crd.includes('name: operands.'));
    await using cluster = await servedCluster({ crds: rest });
    const { err } = await call(['status', '-A', '--kubeconfig', cluster.kubeconfig]);
    expect(err).toBe('not installed here: operands.operand.run.cloud.google.com (slipway run --install-crds)\n');
  });

  test('in every format', async () => {
    await using cluster = await servedCluster({
      crds: await definitions(),
      manifests: [operandOperator.examples[0]!.manifest],
    });
    const status = async (...flags: string[]) =>
      (await call(['status', '--kubeconfig', cluster.kubeconfig, ...flags], { columns: 60 })).out;
    expect(await status()).toMatch(/^OPERATOR +KIND +NAME +STATE +SINCE\noperand +Operand +hello +New +\d+s\n$/);
    expect(await status('-o', 'wide')).toContain('hello');
    expect(await status('-o', 'name')).toBe('operand.operand.run.cloud.google.com/hello\n');
    expect(JSON.parse(await status('-o', 'json'))).toMatchObject([
      { operator: 'operand', name: 'hello', state: 'New' },
    ]);
    expect(parse(await status('-o', 'yaml'))).toMatchObject([{ kind: 'Operand', message: '' }]);
  });

  test('-w on a terminal draws over itself', async () => {
    await using cluster = await servedCluster({ crds: await definitions() });
    const running = new Call(['status', '-A', '-w', '--kubeconfig', cluster.kubeconfig], { interactive: true });
    await running.says(/nothing is managed yet/);
    await cluster.client.create({
      apiVersion: operandOperator.kinds[0]!.apiVersion,
      kind: 'Operand',
      metadata: { name: 'late' },
      spec: {},
    } as never);
    await running.says(/late/);
    expect(running.out).toContain('\u001B[1A\u001B[0J');
    expect(await running.stop()).toBe(0);
  });
});

describe('plan', () => {
  test('of objects, in words and as data', async () => {
    await using cluster = await servedCluster();
    const file = await cluster.file('file.yaml', someObject);
    const plan = (...flags: string[]) => call(['plan', '-f', file, '--kubeconfig', cluster.kubeconfig, ...flags]);
    expect((await plan()).out).toMatch(/ConfigMap default\/a/);
    expect(JSON.parse((await plan('-o', 'json')).out)).toMatchObject([{ ref: { kind: 'ConfigMap', name: 'a' } }]);
    expect((await plan('-o', 'name')).out).toBe('configmap/a\n');
    expect(parse((await plan('-o', 'yaml')).out)).toMatchObject([{ ref: { kind: 'ConfigMap', name: 'a' } }]);
  });

  test('of an Operand lists what it holds', async () => {
    await using cluster = await servedCluster({ crds: await definitions() });
    const file = await cluster.file('operand.yaml', operandOperator.examples[0]!.manifest);
    const { code, out } = await call(['plan', '-f', file, '--kubeconfig', cluster.kubeconfig]);
    expect(code).toBe(0);
    expect(out).toContain('hello/web');
    expect(out).toContain('hello/installed');
  });

  test('of a file that is not there or not YAML: 2', async () => {
    await using cluster = await servedCluster({ controllers: 'none' });
    const missing = await call(['plan', '-f', 'nowhere.yaml', '--kubeconfig', cluster.kubeconfig]);
    expect(missing.err).toContain('cannot read nowhere.yaml');
    expect(missing.code).toBe(2);
    const file = await cluster.file('bad.yaml', 'kind: ConfigMap\n');
    const bad = await call(['plan', '-f', file, '--kubeconfig', cluster.kubeconfig]);
    expect(bad.err).toMatch(/bad\.yaml.*apiVersion[^]*nothing was done/);
    expect(bad.code).toBe(2);
  });
});

describe('rbac', () => {
  test.each([[], ['--impersonate']])(
    'what it prints can be applied to a bare cluster in its order %j',
    async (...argv) => {
      await using served = await servedCluster({ controllers: 'none', authorization: 'RBAC' });
      const { out } = await call(['rbac', 'operand', ...argv.flat()]);
      const applied: string[] = [];
      for (const object of parseManifests(out, { source: 'rbac' })) {
        await served.client.apply(object);
        applied.push(object.kind);
      }
      expect(applied).toEqual(
        expect.arrayContaining(['Namespace', 'ServiceAccount', 'ClusterRole', 'ClusterRoleBinding']),
      );
    },
  );
});
