import { execFileSync, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The newcomer's first five minutes: a clone in an empty folder, nothing on the PATH but Node, npm, git and a shell, and the
 * first command of the README. Ends well when every operator has shown its example ready and Ctrl-C has stopped it all.
 * (The README's second command is the test command itself, which continuous integration runs in a fresh clone.)
 */
const repository = join(import.meta.dirname, '..', '..');
const limitMs = 10 * 60_000;
/** What each operator's example looks like when it is done. */
const wanted = [/Operand hello → Ready/, /BtpOperator kyma-system\/btpoperator → Ready/];

const folder = await mkdtemp(join(tmpdir(), 'slipway-fresh-'));
try {
  const clone = join(folder, 'slipway');
  execFileSync('git', ['clone', '--quiet', repository, clone], { stdio: 'inherit' });
  const command = /```sh\n(.+)\n```/.exec(await readFile(join(clone, 'README.md'), 'utf8'))?.[1];
  if (command === undefined) throw new Error('README.md has no command to run');
  console.log(`fresh clone: $ ${command}`);
  const output = await runUntilReady(command, clone, await barePath());
  console.log(output.split('\n').slice(-12).join('\n'));
  console.log('fresh clone: every example became ready, and Ctrl-C stopped it');
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

function runUntilReady(command: string, cwd: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { PATH: _path, ...env } = process.env;
    const child = spawn('sh', ['-c', command], {
      cwd,
      detached: true,
      env: {
        ...env,
        PATH: path,
        HOME: folder,
        npm_config_cache: env['npm_config_cache'] ?? join(env['HOME'] ?? folder, '.npm'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let stopping = false;
    const timer = setTimeout(() => {
      process.kill(-child.pid!, 'SIGKILL');
      reject(new Error(`not ready within ${limitMs / 1000} s:\n${output}`));
    }, limitMs);
    const take = (chunk: Buffer): void => {
      output += String(chunk);
      if (stopping || !wanted.every((pattern) => pattern.test(output))) return;
      stopping = true;
      process.kill(-child.pid!, 'SIGINT');
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('close', () => {
      clearTimeout(timer);
      if (stopping && output.includes('stopped;')) resolve(output);
      else reject(new Error(`ended before everything was ready:\n${output}`));
    });
  });
}
