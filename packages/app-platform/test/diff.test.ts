import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Namespace, newObject, systemClock, systemRandom } from '@slipway/kube';
import type { TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { diffCommand } from '../src/command/diff.ts';
import { applicationOf } from '../src/platform/applications.ts';
import { writeFiles } from './git-kit.ts';
import { syncCluster } from './sync-kit.ts';

const files = {
  'env/settings/cluster.yaml': 'kind: AplCluster\nspec: {name: dev, domainSuffix: dev.example.com}\n',
  'env/apps/console.yaml': 'kind: AplApp\nspec: {replicas: 3, cookieSecret: canary-cookie}\n',
  'env/apps/cert-manager.yaml': 'kind: AplApp\nspec: {enabled: false, customRootCA: ca}\n',
  'env/teams/blue/settings.yaml': 'kind: AplTeamSettingSet\nspec: {}\n',
};

async function diff(cluster: TestCluster, changes: Record<string, string>, flags: object = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-diff-test-'));
  const said = { out: '', err: '' };
  const terminal = {
    cwd: directory,
    env: {},
    clock: systemClock,
    random: systemRandom,
    colours: false,
    signal: new AbortController().signal,
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
  };
  const connect = async () => ({ client: cluster.client, [Symbol.asyncDispose]: async () => undefined });
  try {
    await writeFiles(directory, { ...files, ...changes });
    const before = await readdir(directory, { recursive: true });
    const code = await diffCommand.run!({ terminal, args: ['.'], flags, connect } as never);
    expect(await readdir(directory, { recursive: true })).toEqual(before);
    return { code, ...said };
  } finally {
    await rm(directory, { recursive: true });
  }
}

test('platform diff: what a checkout would change, secrets hidden, nothing written', { timeout: 300_000 }, async () => {
  await using cluster = await syncCluster();
  const { client } = cluster;
  const console = { namespace: 'console', name: 'console', chart: '../charts/console', installed: true };
  const trust = { namespace: 'cert-manager', name: 'trust', chart: '../charts/trust', installed: true };
  const values = 'url: https://console.dev.example.com\nreplicas: 1\ncookieSecret: canary-before\n';
  await client.create(applicationOf(console, values, 'https://git.example.com/platform.git', 'v1.0.0'));
  await client.create(applicationOf(trust, 'caCert: ca\n', 'https://git.example.com/platform.git', 'v1.0.0'));
  for (const name of ['cert-manager', 'console', 'keycloak', 'otomi'])
    await client.create(newObject(Namespace, { metadata: { name, labels: { name } } }));

  const { code, out } = await diff(cluster, {}, { 'exit-code': true });
  expect(code).toBe(2);
  expect(out).toContain('upgrade console-console\n');
  expect(out).toContain('ConfigMap console/console (v1) changed:');
  expect(out).toMatch(/-   replicas: ("1"|'1')\n\+   replicas: ("3"|'3')/);
  expect(out).toMatch(/cookieSecret: '?\(hidden, after\)/);
  expect(out).toContain('uninstall cert-manager-trust\n');
  expect(out).toContain('install argocd-argocd\n');
  // The namespace of the team would be new, the others are as they should be.
  expect(out).toContain('upgrade essential\n');
  expect(out).toContain('Namespace /team-blue (v1) added:');
  expect(out).not.toContain('Namespace /console');
  expect(out).not.toContain('canary');
  expect(await client.get(Namespace, { name: 'team-blue' })).toBeUndefined();

  const broken = await diff(cluster, { 'env/apps/console.yaml': 'kind: AplApp\nspec:\n  replicas: many\n' });
  expect(broken).toMatchObject({ code: 1, out: '' });
  expect(broken.err).toMatch(/env\/apps\/console\.yaml:\d+: apps\.console\.replicas: must be integer/);
});
