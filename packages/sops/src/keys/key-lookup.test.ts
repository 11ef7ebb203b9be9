import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { armor, Encrypter } from 'age-encryption';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { makeOpenSshKey } from '../../test/openssh-key.ts';
import { generateAgeKey } from './age-keys.ts';
import { findAgeIdentities } from './key-lookup.ts';

let home: string;
let keys: { readonly identity: string; readonly recipient: string }[];

beforeAll(async () => {
  keys = await Promise.all(Array.from({ length: 5 }, async () => await generateAgeKey()));
});
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'sops-keys-'));
});
afterEach(async () => await rm(home, { recursive: true }));

test('identities come from all places sops looks at, taken together', async () => {
  await mkdir(join(home, 'config', 'sops', 'age'), { recursive: true });
  const [a, b, c, d] = keys.map(({ identity }) => identity);
  await writeFile(join(home, 'config', 'sops', 'age', 'keys.txt'), `# mine\n${d}\n`);
  await writeFile(join(home, 'file.txt'), `${b}\n`);
  await writeFile(join(home, 'print.mjs'), `console.log('${c}');`);
  const env = {
    SOPS_AGE_KEY: `${a} ${b}`,
    SOPS_AGE_KEY_FILE: join(home, 'file.txt'),
    SOPS_AGE_KEY_CMD: `"${process.execPath}" '${join(home, 'print.mjs')}'`,
    XDG_CONFIG_HOME: join(home, 'config'),
  };
  const found = await findAgeIdentities({ env, home });
  expect(found).toEqual([a, b, c, d]);
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
  const { identity } = keys[0]!;
  await writeFile(join(folder, 'keys.txt'), `\ufeff# mine\r\n\r\n${identity}\r\n`);
  const env = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, join(home, value)]));
  expect(await findAgeIdentities({ env, home, platform })).toEqual([identity]);
});

test('nothing anywhere is no identity, not an error', async () => {
  expect(await findAgeIdentities({ env: {}, home })).toEqual([]);
});

test.each([
  [{ SOPS_AGE_KEY: 'ssh-ed25519 AAAA' }, 'SOPS_AGE_KEY, line 1: not an age identity'],
  [{ SOPS_AGE_KEY: '# mine\nAGE-SECRET-KEY-1QQ' }, 'SOPS_AGE_KEY, line 2: the age identity is damaged'],
  [{ SOPS_AGE_SSH_PRIVATE_KEY_FILE: '/gone' }, 'SOPS_AGE_SSH_PRIVATE_KEY_FILE: cannot read /gone (ENOENT)'],
  [{ SOPS_AGE_SSH_PRIVATE_KEY_FILE: '/dev/null' }, '/dev/null: not a private SSH key'],
  [{ SOPS_AGE_SSH_PRIVATE_KEY_CMD: 'echo' }, 'SOPS_AGE_SSH_PRIVATE_KEY_CMD: not a private SSH key'],
  [{ SOPS_AGE_KEY_FILE: '/' }, 'SOPS_AGE_KEY_FILE: cannot read / (EISDIR)'],
  [{ SOPS_AGE_KEY_FILE: '/dev/zero' }, '/dev/zero: too large for keys'],
  [{ SOPS_AGE_KEY_FILE: '/does/not/exist' }, 'SOPS_AGE_KEY_FILE: cannot read /does/not/exist (ENOENT)'],
  [{ SOPS_AGE_KEY_CMD: 'no-such-program-here' }, 'SOPS_AGE_KEY_CMD: no-such-program-here failed (ENOENT)'],
])('%j is refused without showing a key', async (env, message) => {
  await expect(findAgeIdentities({ env, home })).rejects.toThrow(message);
});

test('a place that cannot be read does not stand in the way of another, and is told', async () => {
  const problems: string[] = [];
  const found = await findAgeIdentities({
    env: { SOPS_AGE_KEY: keys[0]!.identity, SOPS_AGE_KEY_FILE: '/does/not/exist' },
    home,
    onProblem: (problem) => problems.push(problem.message),
  });
  expect(found).toEqual([keys[0]!.identity]);
  expect(problems).toEqual(['SOPS_AGE_KEY_FILE: cannot read /does/not/exist (ENOENT)']);
});

test('the key command is asked once for each recipient of the file', async () => {
  const [a, b] = keys.map(({ identity }) => identity);
  const program = `console.log({ A: '${a}', B: '${b}' }[process.env.SOPS_AGE_RECIPIENT]);`;
  await writeFile(join(home, 'print.mjs'), program);
  const env = { SOPS_AGE_KEY_CMD: `"${process.execPath}" '${join(home, 'print.mjs')}'` };
  const found = await findAgeIdentities({ env, home, recipients: ['A', 'B'] });
  expect(found).toEqual([a, b]);
});

describe('a key file behind a passphrase', () => {
  let sealed: Uint8Array;
  beforeAll(async () => {
    const encrypter = new Encrypter();
    encrypter.setPassphrase('séc ret');
    encrypter.setScryptWorkFactor(2);
    sealed = await encrypter.encrypt(`# mine\n${keys[0]!.identity}\n`);
  });

  test.each(['as bytes', 'with armor'])('%s is opened with what is answered', async (form) => {
    await writeFile(join(home, 'file.txt'), form === 'as bytes' ? sealed : armor.encode(sealed));
    const env = { SOPS_AGE_KEY_FILE: join(home, 'file.txt') };
    const questions: string[] = [];
    const askPassphrase = async (question: string): Promise<string> => {
      questions.push(question);
      return 'séc ret';
    };
    expect(await findAgeIdentities({ env, home, askPassphrase })).toEqual([keys[0]!.identity]);
    expect(questions).toEqual([`Enter passphrase for identity '${env.SOPS_AGE_KEY_FILE}':`]);
    await expect(findAgeIdentities({ env, home, askPassphrase: async () => 'wrong' })).rejects.toThrow(
      'file.txt: the passphrase does not open it',
    );
  });

  test('is refused by name when there is nobody to ask', async () => {
    const env = { SOPS_AGE_KEY: armor.encode(sealed) };
    for (const askPassphrase of [undefined, async () => undefined]) {
      await expect(findAgeIdentities({ env, home, ...(askPassphrase && { askPassphrase }) })).rejects.toThrow(
        'SOPS_AGE_KEY: the identities are encrypted with a passphrase',
      );
    }
  });

  test('is left alone when another identity fits', async () => {
    await writeFile(join(home, 'file.txt'), sealed);
    const [, { identity, recipient }] = keys as [unknown, (typeof keys)[0]];
    const env = { SOPS_AGE_KEY_FILE: join(home, 'file.txt'), SOPS_AGE_KEY: identity };
    const askPassphrase = (): never => expect.unreachable('it was asked');
    expect(await findAgeIdentities({ env, home, recipients: [recipient], askPassphrase })).toEqual([identity]);
  });
});

describe('SSH keys', () => {
  const key = makeOpenSshKey('ssh-ed25519');

  test('come from all places sops looks at', async () => {
    const others = Array.from({ length: 3 }, () => makeOpenSshKey('ssh-ed25519').pem);
    await mkdir(join(home, '.ssh'));
    await writeFile(join(home, '.ssh', 'id_ed25519'), others[0]!);
    await writeFile(join(home, '.ssh', 'id_rsa'), others[1]!);
    await writeFile(join(home, 'named'), `# ours\n${key.pem}`);
    await writeFile(join(home, 'print.mjs'), `console.log(${JSON.stringify(others[2])});`);
    const env = {
      SOPS_AGE_SSH_PRIVATE_KEY_FILE: join(home, 'named'),
      SOPS_AGE_SSH_PRIVATE_KEY_CMD: `"${process.execPath}" '${join(home, 'print.mjs')}'`,
    };
    const found = await findAgeIdentities({ env, home, recipients: [key.recipient] });
    expect(found).toEqual([key.pem, `${others[2]}\n`, others[0], others[1]]);
  });

  test('of the home folder are not looked for when the file is for none, and complained of only when nothing fits', async () => {
    await mkdir(join(home, '.ssh'));
    await writeFile(join(home, '.ssh', 'id_rsa'), makeOpenSshKey('ssh-ed25519', { cipher: 'aes256-ctr' }).pem);
    const [{ identity, recipient }, other] = keys as [(typeof keys)[0], (typeof keys)[0]];
    const problemsFor = async (...recipients: string[]): Promise<string[]> => {
      const problems: string[] = [];
      const env = { SOPS_AGE_KEY: identity };
      await findAgeIdentities({ env, home, recipients, onProblem: ({ message }) => problems.push(message) });
      return problems;
    };
    expect(await problemsFor(recipient)).toEqual([]);
    expect(await problemsFor(other.recipient)).toEqual([]);
    expect(await problemsFor(recipient, key.recipient)).toEqual([]);
    expect(await problemsFor(key.recipient)).toEqual([
      `${join(home, '.ssh', 'id_rsa')}: the SSH key is behind a passphrase, which cannot be taken off here`,
    ]);
    expect(await findAgeIdentities({ env: {}, home })).toEqual([]);
  });
});
