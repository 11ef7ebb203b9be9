import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findOperators } from '@slipway/cli';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { bundle, type Bundle } from './bundle.ts';

let folder: string;
let made: Bundle;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-bundle-'));
  made = await bundle({ directory: folder });
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

const slipway = async (...argv: string[]) =>
  (await promisify(execFile)(process.execPath, [made.file, ...argv], { cwd: folder, maxBuffer: 1 << 26 })).stdout;

test('starts from a folder without any modules, and knows all operators', async () => {
  const help = await slipway('run', '--help');
  for (const operator of await findOperators()) expect(help).toContain(operator.name);
});

test('prints the definitions and the version', async () => {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  expect(await slipway('version')).toBe(`${version}\n`);
  expect(await slipway('crds')).toContain('kind: CustomResourceDefinition');
});

test('holds what operators read at run time beside it', async () => {
  for (const operator of await findOperators()) {
    if (operator.manifestsDir === undefined) continue;
    expect((await stat(join(folder, 'operators', operator.name, 'manifests'))).isDirectory()).toBe(true);
  }
});
