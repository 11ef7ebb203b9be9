import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { referencePlatform } from '../values/reference-platform.ts';
import { initCommand } from './init.ts';

let cwd: string;
beforeEach(async () => void (cwd = await mkdtemp(join(tmpdir(), 'slipway-init-'))));
afterEach(() => rm(cwd, { recursive: true }));

const init = async (folder: string) =>
  await initCommand.run!({ terminal: { cwd, out: () => undefined }, args: [folder], flags: {} } as never);

test('a new folder, or an empty one, has every file of the reference platform', async () => {
  await init('mine');
  expect(await readdir(join(cwd, 'mine'), { recursive: true })).toEqual(
    await readdir(referencePlatform, { recursive: true }),
  );
});

test.each(['a folder with files', 'a file', 'a folder below a file'])(
  '%s is refused and left as it is',
  async (what) => {
    await writeFile(join(cwd, 'notes'), 'mine');
    const target = { 'a folder with files': '.', 'a file': 'notes' }[what] ?? 'notes/platform';
    await expect(init(target)).rejects.toMatchObject({ exitCode: 2, hint: expect.stringContaining('choose a folder') });
    expect(await readdir(cwd)).toEqual(['notes']);
  },
);
