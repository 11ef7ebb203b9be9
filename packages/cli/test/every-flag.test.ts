import { networkInterfaces } from 'node:os';
import { Lease, ValidatingWebhookConfiguration } from '@slipway/kube';
import { operandOperator } from '@slipway/operand';
import { validatingWebhook } from '@slipway/runtime';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { findCommands, findPackages } from '../src/packages.ts';
import { commandLine } from '../src/program.ts';
import { Call, call, servedCluster, terminalFor, type ServedCluster } from './kit.ts';

/** What a command needs besides the flag that is looked at. */
const needed: Readonly<Record<string, readonly string[]>> = {
  up: ['--port', '0'],
  cluster: ['--port', '0'],
  plan: ['-f', 'object.yaml'],
  explain: ['Waiting'],
  completion: ['bash'],
};
const object = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: default }\n';

/** Without what the operator adds: each of its flags is the operator's to test. */
const operators = [{ ...operandOperator, flags: [], permissionVariants: [] }];
/** The commands of this package and of the operator; others are for the packages that bring them to test. */
const looked = (await findPackages()).filter(({ name }) => name === '@slipway/cli' || name === '@slipway/operand');
const names = new Set(looked.flatMap(({ commands }) => commands.map(({ name }) => name)));
const { commands: table } = await commandLine({
  terminal: terminalFor(),
  version: '9.9.9',
  commands: (await findCommands()).filter(({ name }) => names.has(name)),
  operators: async () => operators,
});
const flagsOf = (command: Command) => command.options.map((option) => option.long!);
/** `--operator` has a test of its own: outside-operator.test.ts. */
const everywhere = new Set(['--config', '--verbose', '--operator']);

let cluster: ServedCluster;
beforeAll(async () => {
  cluster = await servedCluster();
  await cluster.file('object.yaml', object);
  await cluster.file('definitions.yaml', (await call(['crds'])).out);
});
afterAll(() => cluster[Symbol.asyncDispose]());

const at = (...argv: string[]) => call(argv, { cwd: cluster.folder, env: { HOME: cluster.folder } });
const on = (command: string, ...argv: string[]) =>
  at(command, ...(needed[command] ?? []), '--kubeconfig', cluster.kubeconfig, ...argv);

/** Runs a command that goes on until Ctrl-C, until it says `pattern`. */
async function until(pattern: RegExp, ...argv: string[]): Promise<RegExpExecArray> {
  const running = new Call(argv, { cwd: cluster.folder, env: { HOME: cluster.folder } });
  const match = await running.says(pattern);
  expect(await running.stop()).toBe(0);
  return match;
}

const run = (pattern: RegExp, ...argv: string[]) =>
  until(pattern, 'run', '--install-crds', '--kubeconfig', cluster.kubeconfig, ...argv);
const print = async (...argv: string[]) => (await at('install', '--print', ...argv)).out;

/** Runs an operator with a webhook until it is served. */
async function served(...flags: string[]): Promise<void> {
  const webhook = validatingWebhook({ name: 'a.webhooks.example.com', kind: Lease, validate: () => undefined });
  const argv = ['run', '--install-crds', '--kubeconfig', cluster.kubeconfig, '--webhook-port', '0', ...flags];
  const running = new Call(argv, { operators: [{ ...operandOperator, webhooks: [webhook] }] });
  await running.says(/"ports":\{"webhooks":\d+\}/);
  expect(await running.stop()).toBe(0);
}

async function registered(): Promise<unknown> {
  const found = await cluster.client.get(ValidatingWebhookConfiguration, { name: 'slipway-operand' });
  await cluster.client.delete(ValidatingWebhookConfiguration, { name: 'slipway-operand' });
  return found?.webhooks?.[0]?.clientConfig;
}

/** The output each flag is there for. */
const shown: Readonly<Record<string, () => Promise<unknown>>> = {
  'up --port': () => until(/is up: Operand on https:\/\/127\.0\.0\.1:(?!16443)\d+\n/, 'up', '--port', '0'),
  'up --data': () => until(/kept in kept-up\n/, 'up', '--port', '0', '--data', 'kept-up'),
  'up --kubeconfig': () => until(/export KUBECONFIG=.*\/up-config\n/, 'up', '--port', '0', '--kubeconfig', 'up-config'),
  'cluster --port': () => until(/^cluster +https:\/\/127\.0\.0\.1:(?!16443)\d+ /, 'cluster', '--port', '0'),
  'cluster --data': () => until(/\(kept in kept\)\n/, 'cluster', '--port', '0', '--data', 'kept'),
  'cluster --kubeconfig': () =>
    until(/export KUBECONFIG=.*\/its-config\n/, 'cluster', '--port', '0', '--kubeconfig', 'its-config'),
  'cluster --rbac': async () => {
    const running = new Call(['cluster', '--port', '0', '--rbac', '--kubeconfig', 'rbac-config'], {
      cwd: cluster.folder,
      env: { HOME: cluster.folder },
    });
    await running.says(/^cluster +https:\/\//);
    expect((await call(['status', '--kubeconfig', `${cluster.folder}/rbac-config`])).code).toBe(0);
    expect(await running.stop()).toBe(0);
  },
  'cluster --authentication-config': async () => {
    await cluster.file('issuers.yaml', 'jwt: [{ issuer: { url: http://login.example.com, audiences: [a] } }]\n');
    const { code, err } = await at('cluster', '--port', '0', '--authentication-config', 'issuers.yaml');
    expect([code, err]).toEqual([1, expect.stringMatching(/issuers\.yaml: jwt\[0\]\.claimMappings: Required value/)]);
  },
  'run --kubeconfig': () => run(/"cluster":"[^"]*kubeconfig, context \\"slipway\\""[^]*"msg":"ready"/),
  'run --context': async () => expect((await on('run', '--context', 'moon')).err).toMatch(/^slipway: .*moon/),
  'run --install-crds': () => run(/"msg":"ready"/),
  'run --leader-elect': () => run(/"msg":"leading"/, '--leader-elect'),
  'run --leader-election-namespace': async () => {
    await run(/"msg":"leading"/, '--leader-elect', '--leader-election-namespace', 'kube-system');
    expect(await cluster.client.get(Lease, { namespace: 'kube-system', name: 'slipway-operand' })).toBeDefined();
  },
  'run --health-port': () => run(/"ports":\{"health":\d+\}/, '--health-port', '0'),
  'run --metrics-port': () => run(/"ports":\{"metrics":\d+\}/, '--metrics-port', '0'),
  'run --bind-address': async () => {
    const ports = ['--health-port', '0', '--metrics-port', '0'];
    const argv = ['run', '--install-crds', '--kubeconfig', cluster.kubeconfig, ...ports];
    const running = new Call([...argv, '--bind-address', '127.0.0.1']);
    const [, health, metrics] = await running.says(/"ports":\{"health":(\d+),"metrics":(\d+)\}/);
    const others = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    for (const place of [`:${health}/healthz`, `:${metrics}/metrics`]) {
      expect((await fetch(`http://127.0.0.1${place}`)).status).toBe(200);
      for (const { address, family, scopeid } of others) {
        if (address === '127.0.0.1' || scopeid) continue;
        await expect(fetch(`http://${family === 'IPv6' ? `[${address}]` : address}${place}`)).rejects.toThrow(
          'fetch failed',
        );
      }
    }
    expect(await running.stop()).toBe(0);
    expect((await on('run', '--install-crds', ...ports, '--bind-address', '192.0.2.1')).err).toMatch(
      /cannot listen on 192\.0\.2\.1:0: .*EADDRNOTAVAIL.*\n {2}give --bind-address an address of this machine/,
    );
  },
  'run --metrics-require-token': async () => {
    const argv = ['run', '--install-crds', '--kubeconfig', cluster.kubeconfig, '--metrics-port', '0'];
    const running = new Call([...argv, '--metrics-require-token']);
    await running.says(/"ports":\{"metrics":\d+\}/);
    const port = /"ports":\{"metrics":(\d+)\}/.exec(running.err)![1]!;
    const { status } = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(status).toBe(401);
    expect(await running.stop()).toBe(0);
  },
  'run --webhook-service': async () => {
    // Nobody routes to the Service here; that it is registered is what the flag is for.
    await served('--webhook-service', 'there/hooks');
    expect(await registered()).toMatchObject({ service: { namespace: 'there', name: 'hooks' } });
  },
  'run --webhook-url': async () => {
    await served('--webhook-url', 'https://127.0.0.1:1');
    expect(await registered()).toMatchObject({ url: expect.stringMatching(/^https:\/\/127\.0\.0\.1:1\//) as unknown });
  },
  'run --webhook-port': () => served('--webhook-url', 'https://127.0.0.1:1'),
  'run --log-level': async () => {
    const running = new Call(['run', '--kubeconfig', cluster.kubeconfig, '--log-level', 'debug', '--install-crds']);
    await running.says(/"msg":"ready"/);
    await running.stop();
    const quiet = await on('run', '--log-level', 'error', '--context', 'moon');
    expect(running.err).toContain('"level":"info"');
    expect(quiet.err).not.toContain('"level"');
  },
  'run --log-format': () => run(/ INFO .*ready/, '--log-format', 'text'),
  'status --kubeconfig': async () => expect((await on('status')).out).toMatch(/^nothing is managed in/),
  'status --context': async () => expect((await on('status', '--context', 'moon')).code).toBe(3),
  'status --namespace': async () => expect((await on('status', '-n', 'there')).code).toBe(0),
  'status --all-namespaces': async () => expect((await on('status', '-A')).out).toBe('nothing is managed yet\n'),
  'status --selector': async () => expect((await on('status', '-l', 'a=b')).out).toMatch(/^nothing is managed in/),
  'status --file': async () => expect((await on('status', '-f', 'object.yaml')).err).toContain('hold no object'),
  'status --watch': () => until(/nothing is managed in/, 'status', '-w', '--kubeconfig', cluster.kubeconfig),
  'status --output': async () => expect((await on('status', '-o', 'json')).out).toBe('[]\n'),
  'plan --kubeconfig': async () => expect((await on('plan')).out).toContain('ConfigMap default/a'),
  'plan --context': async () => expect((await on('plan', '--context', 'moon')).code).toBe(3),
  'plan --file': async () => expect((await at('plan', '--file', 'nowhere.yaml')).err).toContain('cannot read nowhere'),
  'plan --output': async () => expect((await on('plan', '-o', 'name')).out).toBe('configmap/a\n'),
  'plan --namespace': async () => {
    await cluster.file('bare.yaml', object.replace(', namespace: default', ''));
    const argv = ['plan', '-f', 'bare.yaml', '-n', 'there', '--kubeconfig', cluster.kubeconfig];
    expect((await at(...argv)).out).toContain('ConfigMap there/a');
  },
  'plan --selector': async () => expect((await on('plan', '-l', 'a=b')).err).toContain('has the labels a=b'),
  'plan --exit-code': async () => expect((await on('plan', '--exit-code')).code).toBe(1),
  'check --kubeconfig': async () => expect((await on('check')).out).toMatch(/^ok +server: Kubernetes v1\./),
  'check --context': async () => expect((await on('check', '--context', 'moon')).code).toBe(3),
  'check --output': async () =>
    expect(JSON.parse((await on('check', '-o', 'json')).out)).toContainEqual(
      expect.objectContaining({ verdict: 'ok', subject: 'server' }),
    ),
  'install --kubeconfig': async () => expect((await on('install', '--timeout', '1ms', '--no-wait')).code).toBe(0),
  'install --context': async () => expect((await on('install', '--context', 'moon')).code).toBe(3),
  'install --namespace': async () => expect(await print('--namespace', 'here')).toContain('namespace: here\n'),
  'install --image': async () =>
    expect(await print('--image', 'there/slipway:2')).toContain('image: there/slipway:2\n'),
  'install --replicas': async () => expect(await print('--replicas', '3')).toContain('replicas: 3\n'),
  'install --timeout': async () => {
    await using idle = await servedCluster({ controllers: 'core' });
    const { err } = await call(['install', '--timeout', '1ms', '--kubeconfig', idle.kubeconfig]);
    expect(err).toContain('gave up after 1ms');
  },
  'install --no-wait': async () => {
    await using idle = await servedCluster({ controllers: 'core' });
    const { out } = await call(['install', '--no-wait', '--kubeconfig', idle.kubeconfig]);
    expect(out).toMatch(/installed; slipway status/);
  },
  'install --set': async () => expect(await print('--set', 'log-level=debug')).toContain('log-level: debug\n'),
  'install --env': async () => expect(await print('--env', 'A=b')).toMatch(/env:\n +- name: A\n +value: b\n/),
  'install --remove': async () =>
    expect((await on('install', '--remove', 'nobody')).err).toContain("no operator 'nobody'"),
  'install --force': async () => {
    await using installed = await servedCluster();
    await call(['install', '--no-wait', '--kubeconfig', installed.kubeconfig]);
    await installed.client.create({ ...operandOf('gone'), spec: {} });
    const { out } = await call(['install', '--remove', 'operand', '--force', '--kubeconfig', installed.kubeconfig]);
    expect(out).toContain('  deleted    Operand gone\n');
  },
  'install --adopt': async () => expect((await on('install', '--no-wait', '--adopt')).out).not.toContain('adopted'),
  'install --write-chart': async () =>
    expect((await at('install', '--write-chart', 'chart')).err).toContain('for one operator of another package'),
  'install --print': async () => expect(await print()).toContain('kind: Deployment\n'),
  'uninstall --kubeconfig': async () => {
    await using empty = await servedCluster({ controllers: 'none' });
    expect((await call(['uninstall', '--kubeconfig', empty.kubeconfig])).code).toBe(5);
  },
  'uninstall --context': async () => expect((await on('uninstall', '--context', 'moon')).code).toBe(3),
  'uninstall --force': async () => {
    await using installed = await servedCluster();
    await call(['install', '--no-wait', '--kubeconfig', installed.kubeconfig]);
    await installed.client.create({ ...operandOf('gone'), spec: {} });
    const { out } = await call(['uninstall', '--force', '--kubeconfig', installed.kubeconfig]);
    expect(out).toContain('  deleted    Operand gone\n');
  },
  'uninstall --timeout': async () => {
    await using installed = await servedCluster();
    await call(['install', '--no-wait', '--kubeconfig', installed.kubeconfig]);
    // Nobody is there to take the finalizer off.
    await installed.client.create({ ...operandOf('stuck', ['test/stays']), spec: {} });
    const { code, err } = await call([
      'uninstall',
      '--force',
      '--timeout',
      '1ms',
      '--kubeconfig',
      installed.kubeconfig,
    ]);
    expect(err).toMatch(/gave up after 1ms, still waiting for Operand stuck/);
    expect(code).toBe(1);
  },
  'version --kubeconfig': async () => expect((await on('version')).out).toContain('Server Version: v1.'),
  'version --context': async () => expect((await on('version', '--context', 'moon')).code).toBe(3),
  'version --client': async () => expect((await on('version', '--client')).out).not.toContain('Server'),
  'version --output': async () =>
    expect(JSON.parse((await on('version', '-o', 'json')).out)).toHaveProperty('clientVersion', '9.9.9'),
  'completion --kubeconfig': async () =>
    expect((await at('completion', 'contexts', '--kubeconfig', cluster.kubeconfig)).out).toBe('slipway\n'),
  'completion --context': async () =>
    expect((await at('completion', 'objects', '--kubeconfig', cluster.kubeconfig, '--context', 'moon')).code).toBe(3),
  'crds --write': async () => expect((await at('crds', '--write', 'written')).out).toMatch(/_operands\.yaml\n/),
  'rbac --namespace': async () => expect((await at('rbac', '--namespace', 'here')).out).toContain('namespace: here\n'),
  'rbac --metrics-require-token': async () =>
    expect((await at('rbac', 'operand', '--metrics-require-token')).out).toContain('- tokenreviews\n'),
};

function operandOf(name: string, finalizers: string[] = []) {
  const { apiVersion, kind } = operandOperator.kinds[0]!;
  return { apiVersion, kind, metadata: { name, finalizers } };
}

test('this file shows the output of every flag of every command', () => {
  const flags = table.flatMap((command) =>
    flagsOf(command)
      .filter((flag) => !everywhere.has(flag))
      .map((flag) => `${command.name()} ${flag}`),
  );
  expect(Object.keys(shown).sort()).toEqual(flags.sort());
});

describe('flags', () => {
  test.each(Object.entries(shown))('%s', async (_name, show) => {
    await show();
  });
});

describe.each(table.map((command) => [command.name(), command] as const))('%s', (name, command) => {
  test('--help lists exactly its flags', async () => {
    const { out } = await call([name, '--help'], { columns: 300, operators });
    const listed = [...out.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag]) => flag!);
    expect(listed.sort()).toEqual([...flagsOf(command), '--help'].sort());
  });

  test('--config names a file that is read', async () => {
    const { code, err } = await at(name, ...(needed[name] ?? []), '--config', 'nowhere.yaml');
    expect(err).toMatch(/^slipway: nowhere\.yaml: ENOENT/);
    expect(code).toBe(2);
  });

  test('--verbose says where settings came from', async () => {
    const flags = flagsOf(command).includes('--kubeconfig') && name !== 'up' && name !== 'cluster';
    const argv = [name, ...(needed[name] ?? []), '--verbose', ...(flags ? ['--kubeconfig', cluster.kubeconfig] : [])];
    const running = new Call(argv, { cwd: cluster.folder, env: { HOME: cluster.folder } });
    await running.says(/setting verbose = true \(--verbose\)|"from":"--verbose".*"msg":"setting"/);
    await running.stop();
  });

  test('an unknown flag: 2, with where to look', async () => {
    const { code, err } = await call([name, ...(needed[name] ?? []), '--frob']);
    expect(err).toMatch(/^slipway: unknown option '--frob'\n {2}slipway .* --help lists its flags\n$/);
    expect(code).toBe(2);
  });
});
