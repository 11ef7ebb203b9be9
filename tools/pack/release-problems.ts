import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Release } from './published-manifest.ts';

const urlToFillIn = 'URL-OF-THIS-REPOSITORY';

/** What has to be filled in before the packages of a repository are published: each a sentence. */
export async function releaseProblems(root: string): Promise<string[]> {
  const read = (file: string) => readFile(join(root, file), 'utf8');
  const { version, repository } = JSON.parse(await read('package.json')) as Release;
  const problems: string[] = [];
  if (!/^git\+(?:https|ssh):\/\/./.test(repository?.url ?? ''))
    problems.push(
      'package.json does not say where the repository is: "repository": { "type": "git", "url": "git+https://…" }',
    );
  if ((await read('README.md')).includes(urlToFillIn))
    problems.push(`README.md says git clone ${urlToFillIn}: put the address of the repository there`);
  if (!(await read('CHANGELOG.md')).split('\n').some((line) => `${line} `.startsWith(`## ${version} `)))
    problems.push(`CHANGELOG.md has no heading for ${version}: rename Unreleased, and begin a new one`);
  return problems;
}
