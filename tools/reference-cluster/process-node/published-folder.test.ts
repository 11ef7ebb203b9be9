import { mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { publishFiles } from './published-folder.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'published-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const files = (contents: Record<string, string>, mode = 0o640) =>
  new Map(Object.entries(contents).map(([path, text]) => [path, { content: Buffer.from(text), mode }]));
const visible = async () => (await readdir(folder)).filter((name) => !name.startsWith('..')).toSorted();

describe('a folder of files that change together', () => {
  it('shows the files with their modes, also those in folders', async () => {
    await publishFiles(folder, files({ a: '1', 'deep/b': '2' }));
    expect(await visible()).toEqual(['a', 'deep']);
    expect(await readFile(join(folder, 'deep/b'), 'utf8')).toBe('2');
    expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(0o640);
  });

  it('moves to new contents by one link, so that no reader sees some old and some new', async () => {
    await publishFiles(folder, files({ crt: 'old', key: 'old' }));
    const before = await readlink(join(folder, '..data'));
    expect(await publishFiles(folder, files({ crt: 'new', key: 'new' }))).toBe(true);
    expect(await readlink(join(folder, '..data'))).not.toBe(before);
    expect(await readlink(join(folder, 'crt'))).toBe('..data/crt');
    expect(await readFile(join(folder, 'crt'), 'utf8')).toBe('new');
  });

  it('leaves everything as it is when nothing changed', async () => {
    await publishFiles(folder, files({ a: '1' }));
    const before = await readlink(join(folder, '..data'));
    expect(await publishFiles(folder, files({ a: '1' }))).toBe(false);
    expect(await readlink(join(folder, '..data'))).toBe(before);
  });

  it('takes away what is no longer wanted', async () => {
    await publishFiles(folder, files({ a: '1', b: '2' }));
    await publishFiles(folder, files({ b: '2' }));
    expect(await visible()).toEqual(['b']);
    expect((await readdir(folder)).filter((name) => name.startsWith('..version-'))).toHaveLength(1);
  });
});
