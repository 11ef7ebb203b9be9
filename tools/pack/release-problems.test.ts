import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { releaseProblems } from './release-problems.ts';

const repository = { type: 'git', url: 'git+https://git.example.com/slipway.git' };
const ready = {
  'package.json': JSON.stringify({ version: '1.2.3', repository }),
  'README.md': 'git clone https://git.example.com/slipway.git',
  'CHANGELOG.md': '# Changelog\n\n## Unreleased\n\n## 1.2.3 (today)\n',
};

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'slipway-release-'));
});
afterEach(() => rm(root, { recursive: true }));

async function problemsOf(files: Readonly<Record<string, string>>): Promise<string[]> {
  for (const [file, text] of Object.entries(files)) await writeFile(join(root, file), text);
  return await releaseProblems(root);
}

test('a release in which everything is filled in is published', async () => {
  expect(await problemsOf(ready)).toEqual([]);
});

test.each<[string, Partial<typeof ready>, string]>([
  ['no repository', { 'package.json': '{ "version": "1.2.3" }' }, 'package.json does not say where the repository is'],
  [
    'a repository without an address',
    { 'package.json': JSON.stringify({ version: '1.2.3', repository: { type: 'git', url: '' } }) },
    'package.json does not say where the repository is',
  ],
  ['a README with a gap', { 'README.md': 'git clone URL-OF-THIS-REPOSITORY' }, 'README.md says git clone URL-'],
  [
    'a changelog of another version',
    { 'CHANGELOG.md': '## 1.2.30 (today)\n' },
    'CHANGELOG.md has no heading for 1.2.3',
  ],
])('%s is a reason not to publish', async (_what, files, problem) => {
  expect(await problemsOf({ ...ready, ...files })).toEqual([expect.stringContaining(problem)]);
});
