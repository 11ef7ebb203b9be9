import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onReference, skipped } from '@slipway/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';

const home = join(import.meta.dirname, '..');
const run = promisify(execFile);

let readme: string;
let directory: string;
beforeEach(async () => {
  readme = await readFile(join(home, 'README.md'), 'utf8');
  // Inside the package, so that the programs find it by its name; hidden from the checks of the repository.
  directory = await mkdtemp(join(home, '.readme-'));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

test('every code block of the README runs and prints what it says', { timeout: 300_000 }, async () => {
  const blocks = [...readme.matchAll(/^```ts ?(\S*)\n(.*?)^```$/gms)];
  expect(blocks.length).toBeGreaterThanOrEqual(5);
  const programs: string[] = [];
  for (const [index, [, name = '', code = '']] of blocks.entries()) {
    const file = name || `block-${index}.ts`;
    await writeFile(join(directory, file), code);
    if (name === '') programs.push(`await import('./${file}');`);
  }
  await writeFile(join(directory, 'all.ts'), programs.join('\n'));
  const { stdout } = await run(process.execPath, ['all.ts'], { cwd: directory });
  const promised = blocks.flatMap(([, , code = '']) => [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text));
  expect(stdout.trimEnd().split('\n')).toEqual(promised);
});

const withoutShell = skipped(
  !onReference,
  'the shell lines of the README of sops: five processes, npm run test:reference runs them',
);

test.skipIf(withoutShell)('the lines for the command line work one after the other', { timeout: 300_000 }, async () => {
  const [, lines = ''] = /^```sh\n(.*?)^```$/ms.exec(readme) ?? [];
  const slipway = `${process.execPath} ${join(home, '..', 'cli', 'src', 'main.ts')}`;
  const folder = await mkdtemp(join(tmpdir(), 'sops-readme-'));
  try {
    // `sed` is not there everywhere; what it looks for stands in the second line.
    const recipient = '$(while read -r a b c d; do case "$c" in key:) echo "$d";; esac; done < key.txt)';
    const script = lines.replaceAll('slipway', slipway).replace(/\$\(sed .*?\)(?= )/, recipient);
    const env = { PATH: process.env['PATH'], HOME: folder, EDITOR: 'true' };
    const { stdout } = await run('sh', ['-ec', script], { cwd: folder, env });
    expect(stdout).toBe('password: hunter2\n5432\n');
    expect(await readFile(join(folder, 'secrets.yaml'), 'utf8')).toMatch(/^password: ENC\[/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
