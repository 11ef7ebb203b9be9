import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import type { Platform } from '../platform/platform.ts';
import { PlatformRoot } from '../values/platform-root.ts';
import { copyBasicFiles } from './copy-basic-files.ts';

test('a values repository begins with what Git ignores, what editors know and a read-me', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-values-'));
  try {
    const root = new PlatformRoot(join(import.meta.dirname, '..', '..', 'platform'));
    await copyBasicFiles({ root, directory } as Platform);
    expect(await readFile(join(directory, '.gitignore'), 'utf8')).toContain('.decrypted~*');
    for (const file of ['README.md', '.editorconfig', '.vscode/values-schema.yaml', 'core.yaml'])
      expect((await readFile(join(directory, file))).length).toBeGreaterThan(0);
  } finally {
    await rm(directory, { recursive: true });
  }
});
