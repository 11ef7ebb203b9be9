import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

import { findOperators } from '../src/packages.ts';
import { deployFiles, generatedFolders } from '../tools/deploy-files.ts';

const root = resolve(import.meta.dirname, '..', '..', '..');
const deploy = join(root, 'deploy');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };

test('what is generated under deploy/ is current: npm run deploy:generate', async () => {
  for (const [path, text] of deployFiles(await findOperators(), version)) {
    const present = await readFile(join(deploy, path), 'utf8').catch(() => 'missing');
    expect({ path, text: present }).toEqual({ path, text });
  }
});

test('nothing is left over from an operator that is gone', async () => {
  const wanted = [...deployFiles(await findOperators(), version).keys()].sort();
  const present: string[] = [];
  for (const folder of generatedFolders) {
    for (const entry of await readdir(join(deploy, folder), { recursive: true, withFileTypes: true }))
      if (entry.isFile()) present.push(relative(deploy, join(entry.parentPath, entry.name)));
  }
  expect(present.sort()).toEqual(
    wanted.filter((path) => generatedFolders.some((folder) => path.startsWith(`${folder}/`))),
  );
});

test('kubectl delete -k does not take the definitions along: they are in a folder of their own', async () => {
  const { resources } = parse(await readFile(join(deploy, 'kustomize', 'kustomization.yaml'), 'utf8')) as {
    resources: string[];
  };
  expect(resources).toContain('workload.yaml');
  for (const resource of resources) {
    const text = await readFile(join(deploy, 'kustomize', resource), 'utf8');
    expect(text).not.toMatch(/^kind: CustomResourceDefinition$/m);
  }
});

test('chart and image carry the version of the project', async () => {
  const chart = parse(await readFile(join(deploy, 'chart', 'Chart.yaml'), 'utf8')) as Record<string, string>;
  expect(chart).toMatchObject({ version, appVersion: version });
});

test('every value of the chart is in its schema', async () => {
  const values = parse(await readFile(join(deploy, 'chart', 'values.yaml'), 'utf8')) as Record<string, unknown>;
  const schema = JSON.parse(await readFile(join(deploy, 'chart', 'values.schema.json'), 'utf8')) as {
    properties: Record<string, unknown>;
  };
  expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(Object.keys(values)));
});
