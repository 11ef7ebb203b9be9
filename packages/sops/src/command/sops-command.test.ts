import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, systemClock } from '@slipway/kube/command';
import { callCommand } from '@slipway/testing/command';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { command } from './sops-command.ts';

let folder: string;
let env: Record<string, string>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sops-command-'));
  await call('keygen', [], { output: 'key.txt' });
  env = {
    SOPS_AGE_KEY_FILE: join(folder, 'key.txt'),
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    PATH: process.env['PATH'] ?? '',
  };
  const recipient = /age1\w+/.exec(await read('key.txt'))![0];
  await writeFile(
    join(folder, '.sops.yaml'),
    `creation_rules:\n  - age: ${recipient}\n    encrypted_regex: ^password$\n`,
  );
  await writeFile(join(folder, 'a.yaml'), 'user: ann\npassword: hunter2\n', { mode: 0o640 });
  await chmod(join(folder, 'a.yaml'), 0o640);
});
afterEach(async () => await rm(folder, { recursive: true }));

const read = async (name: string): Promise<string> => await readFile(join(folder, name), 'utf8');

async function call(name: string, args: readonly string[], flags: object = {}): Promise<{ out: string; err: string }> {
  return await callCommand(command as Command, name, args, flags, { cwd: folder, clock: systemClock, env: env ?? {} });
}

test('encrypt follows .sops.yaml, and the file keeps its mode', async () => {
  await call('encrypt', ['a.yaml'], { 'in-place': true });
  expect(await read('a.yaml')).toMatch(/^user: ann\npassword: ENC\[/);
  expect((await stat(join(folder, 'a.yaml'))).mode & 0o777).toBe(0o640);
  expect((await call('decrypt', ['a.yaml'])).out).toBe('user: ann\npassword: hunter2\n');
});

test('edit changes what the editor changed and leaves no clear copy behind', async () => {
  await call('encrypt', ['a.yaml'], { 'in-place': true });
  const script = join(folder, 'editor.mjs');
  await writeFile(
    script,
    `import { readFileSync, writeFileSync } from 'node:fs';
     const path = process.argv[2];
     writeFileSync(path, readFileSync(path, 'utf8').replace('hunter2', 'hunter3'));
     writeFileSync(${JSON.stringify(join(folder, 'seen'))}, path);`,
  );
  env['SOPS_EDITOR'] = `${process.execPath} ${script}`;
  await call('edit', ['a.yaml']);
  expect((await call('decrypt', ['a.yaml'])).out).toContain('hunter3');
  await expect(stat(await read('seen'))).rejects.toThrow('ENOENT');
});

test('an edit that breaks the file is refused and the file stays', async () => {
  await call('encrypt', ['a.yaml'], { 'in-place': true });
  const before = await read('a.yaml');
  await writeFile(
    join(folder, 'break.mjs'),
    "import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[2], 'a: [');",
  );
  env['SOPS_EDITOR'] = `${process.execPath} ${join(folder, 'break.mjs')}`;
  await expect(call('edit', ['a.yaml'])).rejects.toThrow(/^a\.yaml: not valid YAML/);
  expect(await read('a.yaml')).toBe(before);
});

test('rotate takes a recipient off', async () => {
  await call('encrypt', ['a.yaml'], { 'in-place': true });
  const recipient = /age1\w+/.exec(await read('key.txt'))![0];
  await expect(call('rotate', ['a.yaml'], { 'rm-age': [recipient] })).rejects.toThrow(/no recipient to encrypt for/);
  const before = await read('a.yaml');
  await call('rotate', ['a.yaml'], { 'in-place': true });
  expect(await read('a.yaml')).not.toBe(before);
  expect((await call('decrypt', ['a.yaml'])).out).toContain('hunter2');
});

test('a key is never written over, and is only for its owner', async () => {
  expect((await stat(join(folder, 'key.txt'))).mode & 0o777).toBe(0o600);
  await expect(call('keygen', [], { output: 'key.txt' })).rejects.toThrow('cannot write key.txt: EEXIST');
});

test('bytes that are no text do not go to the terminal', async () => {
  await writeFile(join(folder, 'raw.bin'), Uint8Array.of(0xff, 0xfe, 0));
  await call('encrypt', ['raw.bin'], { 'in-place': true });
  await expect(call('decrypt', ['raw.bin'])).rejects.toThrow('raw.bin holds bytes that are no text');
  await call('decrypt', ['raw.bin'], { output: 'out.bin' });
  expect(await readFile(join(folder, 'out.bin'))).toEqual(Buffer.of(0xff, 0xfe, 0));
  expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('a file that cannot be read is named', async () => {
  await expect(call('decrypt', ['gone.yaml'])).rejects.toThrow('cannot read gone.yaml: ENOENT');
});
