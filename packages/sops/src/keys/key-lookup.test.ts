import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { findAgeIdentities } from './key-lookup.ts';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'sops-keys-'));
});
afterEach(async () => await rm(home, { recursive: true }));

test('identities come from all places sops looks at, taken together', async () => {
  await mkdir(join(home, 'config', 'sops', 'age'), { recursive: true });
  await writeFile(join(home, 'config', 'sops', 'age', 'keys.txt'), '# mine\nAGE-SECRET-KEY-1D\n');
  await writeFile(join(home, 'file.txt'), 'AGE-SECRET-KEY-1B\n');
  await writeFile(join(home, 'print.mjs'), "console.log('AGE-SECRET-KEY-1C');");
  const env = {
    SOPS_AGE_KEY: 'AGE-SECRET-KEY-1A AGE-SECRET-KEY-1B',
    SOPS_AGE_KEY_FILE: join(home, 'file.txt'),
    SOPS_AGE_KEY_CMD: `"${process.execPath}" '${join(home, 'print.mjs')}'`,
    XDG_CONFIG_HOME: join(home, 'config'),
  };
  const found = await findAgeIdentities({ env, home });
  expect(found).toEqual(['AGE-SECRET-KEY-1A', 'AGE-SECRET-KEY-1B', 'AGE-SECRET-KEY-1C', 'AGE-SECRET-KEY-1D']);
});

test.each([
  ['linux', {}, '.config'],
  ['linux', { XDG_CONFIG_HOME: 'xdg', APPDATA: 'roaming' }, 'xdg'],
  ['darwin', {}, 'Library/Application Support'],
  ['darwin', { XDG_CONFIG_HOME: 'xdg' }, 'xdg'],
  ['win32', { APPDATA: 'roaming', XDG_CONFIG_HOME: 'xdg' }, 'roaming'],
] as const)('the own key file of %s with %j is below %s, as with sops', async (platform, given, below) => {
  const folder = join(home, below, 'sops', 'age');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'keys.txt'), '# mine\r\n\r\nAGE-SECRET-KEY-1D\r\n');
  const env = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, join(home, value)]));
  expect(await findAgeIdentities({ env, home, platform })).toEqual(['AGE-SECRET-KEY-1D']);
});

test('nothing anywhere is no identity, not an error', async () => {
  expect(await findAgeIdentities({ env: {}, home })).toEqual([]);
});

test.each([
  [{ SOPS_AGE_KEY: 'ssh-ed25519 AAAA' }, 'SOPS_AGE_KEY, line 1: not an age identity'],
  [{ SOPS_AGE_SSH_PRIVATE_KEY_FILE: 'id_rsa' }, 'SOPS_AGE_SSH_PRIVATE_KEY_FILE: SSH keys cannot be used here'],
  [{ SOPS_AGE_SSH_PRIVATE_KEY_CMD: 'pass' }, 'SOPS_AGE_SSH_PRIVATE_KEY_CMD: SSH keys cannot be used here'],
  [{ SOPS_AGE_KEY_FILE: '/does/not/exist' }, 'SOPS_AGE_KEY_FILE: cannot read /does/not/exist (ENOENT)'],
  [{ SOPS_AGE_KEY_CMD: 'no-such-program-here' }, 'SOPS_AGE_KEY_CMD: no-such-program-here failed (ENOENT)'],
])('%j is refused without showing a key', async (env, message) => {
  await expect(findAgeIdentities({ env, home })).rejects.toThrow(message);
});

test('a place that cannot be read does not stand in the way of another, and is told', async () => {
  const problems: string[] = [];
  const found = await findAgeIdentities({
    env: { SOPS_AGE_KEY: 'AGE-SECRET-KEY-1A', SOPS_AGE_KEY_FILE: '/does/not/exist' },
    home,
    onProblem: (problem) => problems.push(problem.message),
  });
  expect(found).toEqual(['AGE-SECRET-KEY-1A']);
  expect(problems).toEqual(['SOPS_AGE_KEY_FILE: cannot read /does/not/exist (ENOENT)']);
});

test('the key command is asked once for each recipient of the file', async () => {
  await writeFile(join(home, 'print.mjs'), "console.log('AGE-SECRET-KEY-1' + process.env.SOPS_AGE_RECIPIENT);");
  const env = { SOPS_AGE_KEY_CMD: `"${process.execPath}" '${join(home, 'print.mjs')}'` };
  const found = await findAgeIdentities({ env, home, recipients: ['A', 'B'] });
  expect(found).toEqual(['AGE-SECRET-KEY-1A', 'AGE-SECRET-KEY-1B']);
});

test.each(['age-encryption.org/v1\n-> scrypt', '-----BEGIN AGE ENCRYPTED FILE-----\n'])(
  'a key file behind a passphrase is refused by name: %j',
  async (text) => {
    await writeFile(join(home, 'file.txt'), text);
    const env = { SOPS_AGE_KEY_FILE: join(home, 'file.txt') };
    await expect(findAgeIdentities({ env, home })).rejects.toThrow('encrypted with a passphrase');
  },
);
