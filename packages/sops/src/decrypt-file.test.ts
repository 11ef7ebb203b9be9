import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { decryptFile } from './decrypt-file.ts';
import { generateAgeKey } from './keys/age-keys.ts';
import { encrypt } from './sops-file.ts';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'sops-file-'))));
afterEach(async () => await rm(folder, { recursive: true }));

test('a file is decrypted by its path, with the keys of the user', async () => {
  const { identity, recipient } = await generateAgeKey();
  const path = join(folder, 'secrets.json');
  await writeFile(path, await encrypt('{"user": "ann"}', { format: 'json', recipients: [recipient] }));
  const mine = { env: { SOPS_AGE_KEY: identity }, home: folder };
  expect((await decryptFile(path, mine)).toString()).toBe('{\n\t"user": "ann"\n}\n');
  expect((await decryptFile(path, { ...mine, outputFormat: 'yaml' })).toString()).toBe('user: ann\n');
  expect((await decryptFile(path, { identities: [identity], extract: ['user'] })).toString()).toBe('ann');
});

test('what is wrong with it is said with a code', async () => {
  const { recipient } = await generateAgeKey();
  const path = join(folder, 'secrets.yaml');
  const nobody = { env: {}, home: folder };
  await expect(decryptFile(path, nobody)).rejects.toMatchObject({ code: 'input' });
  await writeFile(path, 'user: ann\n');
  await expect(decryptFile(path, nobody)).rejects.toMatchObject({ code: 'not-encrypted' });
  await writeFile(path, await encrypt('user: ann\n', { format: 'yaml', recipients: [recipient] }));
  await expect(decryptFile(path, nobody)).rejects.toMatchObject({ code: 'no-key' });
});
