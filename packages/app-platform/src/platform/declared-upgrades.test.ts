import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { PlatformRoot } from '../values/platform-root.ts';
import { referencePlatform } from '../values/reference-platform.ts';
import { declaredOperations, declaredUpgrades, upgradesFile } from './declared-upgrades.ts';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'slipway-upgrades-'))));
afterEach(() => rm(folder, { recursive: true }));

async function rootWith(text: string): Promise<PlatformRoot> {
  await writeFile(join(folder, upgradesFile), text);
  return new PlatformRoot(folder);
}

test('those of the reference platform are read, and each operation is known to who computes permissions', async () => {
  await cp(referencePlatform, folder, { recursive: true });
  const root = new PlatformRoot(folder);
  expect((await declaredUpgrades(root)).map(({ version }) => version)).toEqual(['1.0.0']);
  expect(await declaredOperations(root)).toEqual([
    expect.objectContaining({ action: 'patch', kind: 'Namespace', labelSelector: 'type=team' }),
    expect.objectContaining({ action: 'delete', kind: 'ConfigMap', name: 'dashboard' }),
  ]);
});

test('an Application is waited for only where there is something to do', async () => {
  const restart = '{restart: {apiVersion: apps/v1, kind: Deployment, namespace: a, name: b}}';
  const root = await rootWith(`upgrades: [{version: 1.0.0, applications: {web: {post: [${restart}]}}}]`);
  const [upgrade] = await declaredUpgrades(root);
  expect(Object.keys(upgrade!)).toEqual(['version', 'applications']);
  expect(Object.keys(upgrade!.applications!['web']!)).toEqual(['post']);
});

test('a platform without the file has none', async () => {
  expect(await declaredUpgrades(new PlatformRoot(folder))).toEqual([]);
});

const target = 'apiVersion: v1, kind: ConfigMap';
test.each([
  ['upgrades: {}', 'upgrades: must be a list'],
  ['upgrades: [{version: 1.0}]', 'upgrades.0.version: must be a version in quotes'],
  ['upgrades: [{version: 1.0.0, during: []}]', 'upgrades.0.during: there is no such moment'],
  ['upgrades: [{version: 1.0.0, pre: [{move: {}}]}]', 'upgrades.0.pre.0: must be one of patch, delete, restart'],
  ['upgrades: [{version: 1.0.0, pre: [{delete: {kind: A, name: a}}]}]', 'pre.0.delete: needs apiVersion and kind'],
  [`upgrades: [{version: 1.0.0, pre: [{delete: {${target}}}]}]`, 'needs either a name or a labelSelector'],
  [`upgrades: [{version: 1.0.0, pre: [{delete: {${target}, name: a, all: b}}]}]`, 'delete.all: there is no such field'],
  [`upgrades: [{version: 1.0.0, pre: [{patch: {${target}, name: a}}]}]`, 'patch.body: a patch has one'],
])('%s is refused: %s', async (text, message) => {
  await expect(declaredUpgrades(await rootWith(text))).rejects.toThrow(message);
});
