import { readFile, writeFile } from 'node:fs/promises';
import { ConfigMap, Secret } from '@slipway/kube';
import { onReference } from '@slipway/testing';
import { expect, test } from 'vitest';

import type { AppPlatformOptions } from '../src/controller.ts';
import { runGit } from '../src/git/git-process.ts';
import { names } from '../src/names.ts';
import { nativeHelmfile } from '../src/platform/native-helmfile.ts';
import type { Helmfile } from '../src/platform/helmfile.ts';
import { storedSecrets } from '../src/secrets/stored-secrets.ts';
import { readConfigMap, readSecret } from '../src/state/records.ts';
import { valueAt } from '../src/values/tree.ts';
import { platformWorld, referencePlatform, type PlatformWorld } from './platform-kit.ts';
import { tellingWrites } from './told-writes.ts';

const statusPlace = { namespace: names.operatorNamespace, name: names.installationStatus };
const limit = 120_000;

async function installed({ cluster }: PlatformWorld): Promise<Record<string, string>> {
  return await cluster.eventually('the platform is installed and followed', async () => {
    const { status } = await readConfigMap(cluster.client, { namespace: 'apl-operator', name: names.operatorState });
    return status === 'succeeded' ? await readConfigMap(cluster.client, statusPlace) : undefined;
  });
}

/** A helmfile that notes what is asked of it, and fails where it is told to. */
function notingHelmfile(notes: string[], fails: (note: string) => boolean = () => false) {
  return (...[{ client, clock }, layers]: Parameters<AppPlatformOptions['helmfile']>): Helmfile => {
    const real = nativeHelmfile({ root: referencePlatform, layers, client, clock });
    const note = (text: string): void => {
      notes.push(text);
      if (fails(text)) throw new Error(`${text} is told to fail`);
    };
    return {
      ...real,
      template: async (selection) => {
        note(`template ${selection.selectors?.join() ?? 'everything'}`);
        return await real.template(selection);
      },
      sync: async (selection) => {
        note(`sync ${selection.selectors?.join()}`);
        await real.sync(selection);
      },
    };
  };
}

test('install(): essential manifests, CRDs, stage=prep, app=core, in this order', { timeout: limit }, async () => {
  await using world = await platformWorld();
  const notes: string[] = [];
  const written: string[] = [];
  const transport = tellingWrites(world.cluster.transport(), ({ kind, metadata }) => {
    const text = `${kind}/${metadata?.name}`;
    if (!written.includes(text)) written.push(text);
  });
  await world.cluster.run([world.controller({ helmfile: notingHelmfile(notes) })], { cluster: { transport } });
  expect(await installed(world)).toMatchObject({ status: 'completed', attempt: '1' });
  expect(notes.slice(0, 3)).toEqual(['template everything', 'sync stage=prep', 'sync app=core']);
  const order = [
    'ConfigMap/apl-installation-status',
    'Secret/deployment-passwords',
    'ConfigMap/deployment-status',
    'Namespace/team-red',
    'CustomResourceDefinition/applications.argoproj.io',
    'ConfigMap/platform-ca',
    'ConfigMap/console',
    'Secret/platform-admin-credentials',
    'ConfigMap/welcome',
    'Secret/gitea-credentials',
    'ConfigMap/apl-operator-state',
    'Application/console-console',
  ];
  expect(written.filter((text) => order.includes(text))).toEqual(order);
  // TRAP: the first commit is made twice, and neither is for the poll to skip.
  const { stdout } = await runGit(['log', '--reverse', '--format=%s', 'main'], { cwd: world.git.server.repository });
  expect(stdout.split('\n').slice(0, 2)).toEqual(['otomi commit', 'otomi commit']);
});

test('ConfigMaps and Secrets: names, namespaces and fields of the tables', { timeout: limit }, async () => {
  await using world = await platformWorld();
  const { client } = world.cluster;
  await world.cluster.run([world.controller()]);
  const status = await installed(world);
  expect(Object.keys(status).sort()).toEqual(['attempt', 'status', 'timestamp']);
  const welcome = await readConfigMap(client, { namespace: 'apl-operator', name: 'welcome' });
  expect(welcome).toMatchObject({
    consoleUrl: 'https://console.dev.example.com',
    secretName: 'platform-admin-credentials',
    secretNamespace: 'keycloak',
  });
  const admin = await readSecret(client, { namespace: 'keycloak', name: 'platform-admin-credentials' });
  expect(admin['username']).toBe('platform-admin@dev.example.com');
  expect(welcome['message']).not.toContain(admin['password']);
  const users = valueAt(await storedSecrets(client), ['users']) as { initialPassword: string }[];
  expect(admin['password']).toBe(users[0]!.initialPassword);
  const deployment = await readConfigMap(client, { namespace: 'otomi', name: 'deployment-status' });
  expect(deployment).toEqual({
    status: 'deployed',
    tag: 'v1.0.0',
    version: '1.0.0',
    deployingTag: 'v1.0.0',
    deployingVersion: '1.0.0',
  });
  const { type } = (await client.get(Secret, { namespace: 'otomi', name: 'deployment-passwords' }))!;
  expect(type).toBe('Opaque');
});

test(
  'Retry: a failure shows as failed with its text, a second later the next attempt makes the same secrets',
  { timeout: limit },
  async () => {
    await using world = await platformWorld();
    const { cluster } = world;
    let failures = 2;
    const notes: string[] = [];
    const seen: string[] = [];
    const times: number[] = [];
    const passwords = new Set<string>();
    const transport = tellingWrites(cluster.transport(), (object) => {
      const { metadata, data = {} } = object as { data?: Record<string, string> } & typeof object;
      if (metadata?.name === names.installationStatus) {
        const { status, attempt, error } = data;
        seen.push([status, attempt, ...(error ? [error] : [])].join(' '));
        times.push(cluster.clock.monotonic());
      }
      if (metadata?.name === names.passwords) passwords.add(JSON.stringify(data));
    });
    const helmfile = notingHelmfile(notes, (note) => note === 'sync app=core' && (failures -= 1) >= 0);
    await cluster.run([world.controller({ helmfile })], { cluster: { transport } });
    await installed(world);
    const failed = 'Install process failed: sync app=core is told to fail';
    expect(seen).toEqual([
      'in-progress 1',
      `failed 1 ${failed}`,
      'in-progress 2',
      `failed 2 ${failed}`,
      'in-progress 3',
      'completed 3',
    ]);
    const pauses = [times[2]! - times[1]!, times[4]! - times[3]!];
    // A real timer may ring a moment early, and on a busy machine late.
    if (onReference) expect(Math.min(...pauses)).toBeGreaterThan(990);
    else expect(pauses).toEqual([1000, 1000]);
    expect(passwords.size).toBe(1);
  },
);

test(
  'status === completed: a restarted operator leaves the values alone, and needs no VALUES_INPUT',
  { timeout: limit },
  async () => {
    await using world = await platformWorld();
    const { cluster, git } = world;
    const first = await cluster.run([world.controller()]);
    await installed(world);
    const changed = (await readFile(`${world.settings.envDir}/env/settings/cluster.yaml`, 'utf8')).replace(
      'name: dev',
      'name: changed',
    );
    const commit = await git.push({ 'env/settings/cluster.yaml': changed }, 'renamed');
    await cluster.eventually('the change is applied', async () => {
      const now = await readConfigMap(cluster.client, { namespace: 'apl-operator', name: names.operatorState });
      return now['commitHash'] === commit && now['status'] === 'succeeded';
    });
    await first.stop();
    const before = await cluster.client.get(ConfigMap, statusPlace);
    const settings = { ...world.withFolder('after-restart'), valuesInput: undefined };
    const second = await cluster.run([world.controller({ settings })]);
    await cluster.eventually('the restarted operator applied', () =>
      second.logs.some(({ message }) => message === '[reconcile] Apply process completed'),
    );
    expect(await readFile(`${settings.envDir}/env/settings/cluster.yaml`, 'utf8')).toContain('changed');
    const after = await cluster.client.get(ConfigMap, statusPlace);
    expect(after?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  },
);

test('a change that is pushed before the installation is complete is kept', { timeout: limit }, async () => {
  await using world = await platformWorld();
  await world.git.push({ 'env/apps/console.yaml': 'kind: AplApp\nspec:\n    replicas: 3\n' }, 'early');
  await world.cluster.run([world.controller()]);
  await installed(world);
  expect(await readFile(`${world.settings.envDir}/env/apps/console.yaml`, 'utf8')).toContain('replicas: 3');
});

test('two replicas without leader election: one works, the other waits until it ends', { timeout: limit }, async () => {
  await using world = await platformWorld();
  const { cluster } = world;
  const first = await cluster.run([world.controller()]);
  await cluster.eventually('the first has begun', () =>
    first.logs.some(({ message }) => message === 'Starting installation attempt'),
  );
  const second = await cluster.run([world.controller({ settings: world.withFolder('second') })]);
  await installed(world);
  const worked = () => second.logs.some(({ message }) => /Starting|Installation already completed/.test(message));
  expect(worked()).toBe(false);
  await first.stop();
  await cluster.eventually('the second takes over', worked);
});

test('without VALUES_INPUT a cluster that is no platform is left as it is', { timeout: limit }, async () => {
  await using world = await platformWorld();
  const { cluster } = world;
  const running = await cluster.run([world.controller({ settings: { ...world.settings, valuesInput: undefined } })]);
  await cluster.eventually('it says so', () => running.logs.some(({ message }) => message.includes('VALUES_INPUT')));
  expect(await cluster.client.get(ConfigMap, statusPlace)).toBeUndefined();
});

test('VALUES_INPUT that is no map fails the bootstrap with what is the matter', { timeout: limit }, async () => {
  await using world = await platformWorld();
  await writeFile(world.settings.valuesInput!, '- a list\n');
  await world.cluster.run([world.controller()]);
  const error = await world.cluster.eventually('it failed', async () => {
    return (await readConfigMap(world.cluster.client, statusPlace))['error'];
  });
  expect(error).toContain('Bootstrap process failed: ');
  expect(error).toContain('VALUES_INPUT:1: must be a map of settings');
});
