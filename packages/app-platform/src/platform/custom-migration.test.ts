import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { writeFiles } from '../../test/git-kit.ts';
import { PlatformRoot } from '../values/platform-root.ts';
import { customMigration } from './custom-migration.ts';

let root: PlatformRoot;
beforeEach(async () => {
  root = new PlatformRoot(await mkdtemp(join(tmpdir(), 'slipway-migrations-')));
  await writeFiles(root.directory, {
    'migrations/double.mjs': 'export function migrate(values) { values.cluster.nodes *= 2; }\n',
    'migrations/empty.mjs': 'export const other = 1;\n',
    'migrations/broken.mjs': 'export function (\n',
    'outside.mjs': 'export function migrate() {}\n',
  });
});
afterEach(() => rm(root.directory, { recursive: true }));

test('a platform brings functions for its values, one file each', async () => {
  const values = { cluster: { nodes: 3 } };
  await (await customMigration(root, 'double'))!(values);
  expect(values).toEqual({ cluster: { nodes: 6 } });
  expect(await customMigration(root, 'missing')).toBeUndefined();
});

test.each([
  ['empty', 'migrations/empty.mjs of the platform must export a function migrate(values)'],
  ['broken', 'migrations/broken.mjs of the platform cannot be loaded'],
  ['../outside', "customFunctions: '../outside' must be letters, digits"],
])('%s is refused with what is the matter', async (name, message) => {
  await expect(customMigration(root, name)).rejects.toMatchObject({
    code: 'Migration',
    message: expect.stringContaining(message),
  });
});
