import type { GitCredentials } from '../git/credentials.ts';
import { type Tree, valueAt } from '../values/tree.ts';

const usualUser = 'otomi-admin';

/** Who commits, as the values say; `undefined` while they do not. */
export function commitCredentials(values: Tree): GitCredentials | undefined {
  const gitea = valueAt(values, ['apps', 'gitea']);
  const password = valueAt(gitea, ['adminPassword']);
  if (typeof password !== 'string' || password === '') return undefined;
  return { username: String(valueAt(gitea, ['adminUsername']) ?? usualUser), password };
}
