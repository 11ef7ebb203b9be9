import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { writeFiles } from '../../test/git-kit.ts';
import { ValuesLayers } from './layers.ts';
import { PlatformRoot } from './platform-root.ts';
import { referencePlatform } from './reference-platform.ts';
import { valueAt } from './tree.ts';

let folder: string;
let layers: ValuesLayers;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-layers-'));
  await cp(referencePlatform, join(folder, 'platform'), { recursive: true });
  await writeFiles(join(folder, 'values'), { 'env/teams/red/settings.yaml': 'spec: {resourceQuota: {pods: 5}}\n' });
  layers = new ValuesLayers(new PlatformRoot(join(folder, 'platform')), join(folder, 'values'));
});
afterEach(async () => await rm(folder, { recursive: true }));

const teams = async () => Object.keys((await layers.values('all'))['teamConfig'] as object);

test('values are made once for as long as nothing changes', async () => {
  const first = await layers.values('all');
  expect(await layers.values('all')).toBe(first);
  expect(await layers.files()).toBe(await layers.files());
});

test('a changed, a new and a removed file are seen', async () => {
  await layers.values('all');
  await writeFiles(join(folder, 'values'), {
    'env/teams/red/settings.yaml': 'spec: {resourceQuota: {pods: 6}}\n',
    'env/teams/blue/settings.yaml': 'spec: {}\n',
  });
  expect(valueAt(await layers.values('all'), ['teamConfig', 'red', 'settings', 'resourceQuota', 'pods'])).toBe(6);
  expect(await teams()).toEqual(['admin', 'blue', 'red']);
  await rm(join(folder, 'values/env/teams/blue'), { recursive: true });
  expect(await teams()).toEqual(['admin', 'red']);
});

test('a team that is nothing but a folder has its defaults', async () => {
  await layers.values('all');
  await writeFiles(join(folder, 'values'), { 'env/teams/green/.gitkeep': '' });
  expect(await teams()).toEqual(['admin', 'green', 'red']);
});

test.each([
  ['values/defaults.yaml', 'cluster: {name: other, domainSuffix: example.com}\n', ['cluster', 'name']],
  ['values/defaults.gotmpl', 'cluster: {name: other, domainSuffix: example.com}\n', ['cluster', 'name']],
  ['values/derived.gotmpl', 'cluster: {name: other, domainSuffix: example.com}\n', ['cluster', 'name']],
  ['core.yaml', 'cluster: {name: other, domainSuffix: example.com}\n', ['cluster', 'name']],
])('a platform with another %s has other values', async (file, text, path) => {
  expect(valueAt(await layers.values('all'), path)).not.toBe('other');
  await writeFile(join(folder, 'platform', file), text);
  expect(valueAt(await layers.values('all'), path)).toBe('other');
});

test('what a template makes of chance is made every time', async () => {
  await writeFile(join(folder, 'platform/values/derived.gotmpl'), '_derived: {key: {{ randAlphaNum 20 }}}\n');
  const key = async () => valueAt(await layers.values('all'), ['_derived', 'key']);
  expect(await key()).not.toBe(await key());
});
