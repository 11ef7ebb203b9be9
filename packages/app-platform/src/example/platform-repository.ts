import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { runGit } from '../git/git-process.ts';
import type { PlatformRoot } from '../values/platform-root.ts';

/** Makes the charts of a platform a Git repository of the example's server, under the tag that Applications ask for. */
export async function servePlatform(root: PlatformRoot, serverDirectory: string, repository: string): Promise<void> {
  const cwd = join(serverDirectory, repository);
  await mkdir(cwd, { recursive: true });
  const git = async (args: readonly string[], accept: readonly number[] = [0]) => await runGit(args, { cwd, accept });
  if (!(await stat(join(cwd, 'HEAD')).catch(() => undefined)))
    await git(['init', '--quiet', '--bare', '--initial-branch=main', '.']);
  const here = ['--git-dir', cwd, '--work-tree', root.directory];
  await git([...here, 'add', '--all', '--force', '.']);
  const { exitCode } = await git([...here, 'diff', '--cached', '--quiet'], [0, 1]);
  const isEmpty = (await git(['rev-parse', '--verify', '--quiet', 'HEAD'], [0, 1, 128])).exitCode !== 0;
  const identity = ['-c', 'user.name=slipway', '-c', 'user.email=slipway@example.localhost'];
  const version = `v${await root.version()}`;
  if (exitCode !== 0 || isEmpty)
    await git([...here, ...identity, 'commit', '--quiet', '-m', `the platform ${version}`]);
  await git(['tag', '--force', version, 'HEAD']);
}
