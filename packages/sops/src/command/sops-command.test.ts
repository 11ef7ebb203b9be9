import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, systemClock } from '@slipway/kube/command';
import { skipped } from '@slipway/testing';
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

test('edit makes a file that is not there by the rule of .sops.yaml, and none when nothing is written', async () => {
  const script = `import { writeFileSync, readFileSync } from 'node:fs';
    if (!readFileSync(process.argv[2], 'utf8').startsWith('example:')) throw new Error('no example');
    if (process.env.TEXT) writeFileSync(process.argv[2], process.env.TEXT);`;
  await writeFile(join(folder, 'editor.mjs'), script);
  env['EDITOR'] = `${process.execPath} ${join(folder, 'editor.mjs')}`;
  expect((await call('edit', ['new.yaml'])).err).toBe('new.yaml: nothing changed\n');
  await expect(stat(join(folder, 'new.yaml'))).rejects.toThrow('ENOENT');
  env['TEXT'] = 'user: bob\npassword: secret\n';
  await call('edit', ['new.yaml']);
  expect(await read('new.yaml')).toMatch(/^user: bob\npassword: ENC\[/);
  expect((await call('decrypt', ['new.yaml'])).out).toBe(env['TEXT']);
});

test('edit says before the editor opens that a new file could not be written', async () => {
  env['EDITOR'] = '/no/such/editor';
  await expect(call('edit', ['gone/new.yaml'])).rejects.toThrow(/cannot write .*new\.yaml: ENOENT/);
  await writeFile(join(folder, '.sops.yaml'), 'creation_rules: [{path_regex: env}]');
  await expect(call('edit', ['new.yaml'])).rejects.toThrow('no creation rule matches new.yaml');
  await rm(join(folder, '.sops.yaml'));
  await expect(call('edit', ['new.yaml'])).rejects.toThrow('no recipient to encrypt for');
});

test('a name as long as names may be does not stand in the way of writing', async () => {
  const name = `${'n'.repeat(250)}.yaml`;
  await writeFile(join(folder, name), 'password: hunter2\n');
  await call('encrypt', [name], { 'in-place': true });
  expect(await read(name)).toMatch(/^password: ENC\[/);
});

// The superuser may write anywhere.
test.skipIf(skipped(process.getuid?.() === 0, 'a folder that is read-only: the superuser can write there'))(
  'a file in a folder that is read-only is written in place',
  async () => {
    await mkdir(join(folder, 'closed'));
    await writeFile(join(folder, 'closed', 'a.yaml'), `password: ${'x'.repeat(9000)}\n`);
    await chmod(join(folder, 'closed'), 0o500);
    await call('encrypt', ['closed/a.yaml'], { 'in-place': true });
    await call('set', ['closed/a.yaml', '["password"]', '"short"']);
    expect((await call('decrypt', ['closed/a.yaml'])).out).toBe('password: short\n');
    await chmod(join(folder, 'closed'), 0o700);
  },
);

test('what somebody else wrote while the editor was open stays', async () => {
  await call('encrypt', ['a.yaml'], { 'in-place': true });
  const script = `import { writeFileSync } from 'node:fs';
    writeFileSync(process.argv[2], 'a: mine');
    writeFileSync(${JSON.stringify(join(folder, 'a.yaml'))}, 'theirs');`;
  await writeFile(join(folder, 'race.mjs'), script);
  env['SOPS_EDITOR'] = `${process.execPath} "${join(folder, 'race.mjs')}"`;
  await expect(call('edit', ['a.yaml'])).rejects.toThrow('a.yaml was changed by somebody else meanwhile');
  expect(await read('a.yaml')).toBe('theirs');
});

test('a link to a file stays a link', async () => {
  await symlink('a.yaml', join(folder, 'link.yaml'));
  await call('encrypt', ['link.yaml'], { 'in-place': true });
  expect((await lstat(join(folder, 'link.yaml'))).isSymbolicLink()).toBe(true);
  expect(await read('a.yaml')).toContain('ENC[');
});

// Node alone makes no pipe with a name.
const pipesAreSkipped = skipped(spawnSync('mkfifo', ['--version']).error !== undefined, 'pipes: there is no mkfifo');

test.skipIf(pipesAreSkipped)('what is no file is written to and not replaced', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await call('encrypt', ['a.yaml'], { 'in-place': true });
  const [text] = await Promise.all([readFile(pipe, 'utf8'), call('decrypt', ['a.yaml'], { output: 'pipe' })]);
  expect(text).toBe('user: ann\npassword: hunter2\n');
  expect((await stat(pipe)).isFIFO()).toBe(true);
});

test('an empty file is not encrypted', async () => {
  await writeFile(join(folder, 'a.yaml'), '');
  await expect(call('encrypt', ['a.yaml'], { 'in-place': true })).rejects.toThrow('a.yaml is empty');
});

test('set, decrypt --extract and unset work on one value', async () => {
  await call('encrypt', ['a.yaml'], { 'in-place': true });
  await call('set', ['a.yaml', '["db"]["password"]', '"secret"']);
  expect(await read('a.yaml')).toMatch(/^db:\n {4}password: ENC\[/m);
  expect((await call('decrypt', ['a.yaml'], { extract: '["db"]["password"]' })).out).toBe('secret');
  await call('unset', ['a.yaml', '["db"]']);
  await expect(call('unset', ['a.yaml', '["db"]'])).rejects.toThrow('a.yaml: there is no ["db"]');
  await call('unset', ['a.yaml', '["db"]'], { idempotent: true });
  expect((await call('decrypt', ['a.yaml'], { 'output-type': 'json' })).out).toBe(
    '{\n\t"user": "ann",\n\t"password": "hunter2"\n}\n',
  );
  await writeFile(join(folder, 'value.json'), '"from a file"');
  await call('set', ['a.yaml', '["password"]', 'value.json'], { 'value-file': true });
  expect((await call('decrypt', ['a.yaml'])).out).toContain('from a file');
  await expect(call('set', ['a.yaml', '["a"]'])).rejects.toThrow('the value has to be given once');
});

test('updatekeys shows the recipients that change, and changes them when told to', async () => {
  await call('encrypt', ['a.yaml'], { 'in-place': true });
  expect((await call('updatekeys', ['a.yaml'])).err).toBe('a.yaml: up to date\n');
  await call('keygen', [], { output: 'bob.txt' });
  const bob = /age1\w+/.exec(await read('bob.txt'))![0];
  const alice = /age1\w+/.exec(await read('key.txt'))![0];
  await writeFile(join(folder, '.sops.yaml'), `creation_rules: [{age: '${alice},${bob}'}]`);
  const before = await read('a.yaml');
  expect((await call('updatekeys', ['a.yaml'])).out).toBe(`+ ${bob}\n`);
  expect(await read('a.yaml')).toBe(before);
  await call('updatekeys', ['a.yaml'], { yes: true });
  env['SOPS_AGE_KEY_FILE'] = join(folder, 'bob.txt');
  expect((await call('decrypt', ['a.yaml'])).out).toContain('hunter2');
  await rm(join(folder, '.sops.yaml'));
  await expect(call('updatekeys', ['a.yaml'])).rejects.toThrow('there is no creation rule');
});

test('filestatus says whether a file is encrypted', async () => {
  expect((await call('filestatus', ['a.yaml'])).out).toBe('{"encrypted":false}\n');
  await call('encrypt', ['a.yaml'], { 'in-place': true });
  expect((await call('filestatus', ['a.yaml'])).out).toBe('{"encrypted":true}\n');
});

test('the rule of .sops.yaml counts when recipients are named, and that of the current folder, as with sops', async () => {
  const recipient = /age1\w+/.exec(await read('key.txt'))![0];
  await mkdir(join(folder, 'below'));
  await writeFile(join(folder, 'below', '.sops.yaml'), 'creation_rules: [{encrypted_regex: ^user$}]');
  await writeFile(join(folder, 'below', 'b.yaml'), 'user: ann\npassword: hunter2\n');
  expect((await call('encrypt', ['below/b.yaml'], { age: recipient })).out).toMatch(/^user: ann\npassword: ENC\[/);
});

test('every command that writes keeps to the indentation of stores in .sops.yaml', async () => {
  const rules = await read('.sops.yaml');
  await writeFile(join(folder, '.sops.yaml'), `${rules}stores: {yaml: {indent: 2}, json: {indent: 1}}\n`);
  await writeFile(join(folder, 'a.yaml'), 'db:\n    hosts:\n        - a\n    text: |4\n         b\n        c\n');
  await call('encrypt', ['a.yaml'], { 'in-place': true });
  const layout = /^db:\n  hosts:\n    - a\n  text: \|2\n     b\n    c\nsops:\n  age:\n    - enc: \|\n {8}-----BEGIN/;
  expect(await read('a.yaml')).toMatch(layout);
  await call('set', ['a.yaml', '["password"]', '"secret"']);
  await call('unset', ['a.yaml', '["password"]']);
  await call('rotate', ['a.yaml'], { 'in-place': true });
  expect(await read('a.yaml')).toMatch(layout);
  expect((await call('decrypt', ['a.yaml'])).out).toMatch(/^db:\n  hosts:\n/);
  expect((await call('decrypt', ['a.yaml'], { 'output-type': 'json' })).out).toMatch(/^\{\n "db": \{\n  "hosts": \[/);
});

test('another configuration is named with --sops-config or SOPS_CONFIG', async () => {
  const recipient = /age1\w+/.exec(await read('key.txt'))![0];
  await writeFile(join(folder, 'other.yaml'), `creation_rules: [{age: ${recipient}, encrypted_regex: ^user$}]`);
  const byFlag = await call('encrypt', ['a.yaml'], { 'sops-config': 'other.yaml' });
  env['SOPS_CONFIG'] = 'other.yaml';
  for (const { out } of [byFlag, await call('encrypt', ['a.yaml'])])
    expect(out).toMatch(/^user: ENC.*\npassword: hunter2\n/);
});

test('standard input has to be named', async () => {
  for (const args of [['-'], []])
    await expect(call('decrypt', args)).rejects.toThrow('standard input has no name that tells its format');
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
