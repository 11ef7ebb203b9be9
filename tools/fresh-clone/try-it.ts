import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runUntilReady } from './run-until-ready.ts';

/**
 * The newcomer's first five minutes: a clone in an empty folder, nothing on the PATH but Node, npm, git and a shell, and the
 * first command of the README. Ends well when every operator has shown its example ready and Ctrl-C has stopped it all.
 * With `--tests` the second command, which runs the tests, has to end well too; what follows narrows it to some of them.
 */
const repository = join(import.meta.dirname, '..', '..');

const folder = await mkdtemp(join(tmpdir(), 'slipway-fresh-'));
try {
  const clone = join(folder, 'slipway');
  execFileSync('git', ['clone', '--quiet', repository, clone], { stdio: 'inherit' });
  const readme = await readFile(join(clone, 'README.md'), 'utf8');
  const [command, testCommand] = [...readme.matchAll(/```sh\n(.+)\n```/g)].map(([, line]) => line!);
  if (command === undefined || testCommand === undefined) throw new Error('README.md lacks its two commands');
  const path = await barePath();
  console.log(`fresh clone: $ ${command}`);
  const output = await runUntilReady(command, clone, bareEnvironment(path));
  console.log(output.split('\n').slice(-12).join('\n'));
  console.log('fresh clone: every example became ready, and Ctrl-C stopped it');
  const [option, ...filters] = process.argv.slice(2);
  if (option === '--tests') {
    const narrowed = filters.length === 0 ? testCommand : `${testCommand} -- ${filters.join(' ')}`;
    console.log(`fresh clone: $ ${narrowed}`);
    execFileSync('sh', ['-c', narrowed], { cwd: clone, env: bareEnvironment(path), stdio: 'inherit' });
    console.log('fresh clone: the tests passed');
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** A PATH with the few programs a newcomer is asked to have. */
async function barePath(): Promise<string> {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  // Not this repository's own Node: the newcomer's.
  const path = (process.env['PATH'] ?? '').split(':').filter((part) => !part.includes('node_modules'));
  for (const program of ['node', 'npm', 'npx', 'git', 'sh', 'env']) {
    const found = execFileSync('sh', ['-c', `command -v ${program}`], {
      encoding: 'utf8',
      env: { ...process.env, PATH: path.join(':') },
    }).trim();
    await symlink(found, join(bin, program));
  }
  return bin;
}

/** A home of its own; only what npm has downloaded before is shared. */
function bareEnvironment(path: string): NodeJS.ProcessEnv {
  const cache = process.env['npm_config_cache'] ?? join(process.env['HOME'] ?? folder, '.npm');
  return { ...process.env, PATH: path, HOME: folder, npm_config_cache: cache };
}
