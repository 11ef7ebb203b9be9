import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';

import { makeOpenSshKey } from '../../test/openssh-key.ts';
import { generateAgeKey, recipientOf, unwrapDataKey, wrapDataKey } from './age-keys.ts';
import { sshNumber, sshParts } from './ssh-wire.ts';

const dataKey = new Uint8Array(32).fill(7);

const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
const smallRsa = sshParts('ssh-rsa', Buffer.of(1, 0, 1), sshNumber(Buffer.from(small.n!, 'base64url')));

test.each([
  ['ssh-ed25519', /the recipient ssh-ed25519 is not an SSH key age can encrypt for/],
  ['ssh-ed25519 AAAA', /is not an SSH key age can encrypt for/],
  // Of another type than it says, and two points whose product is nothing.
  ['ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIHsKLqeplhpW+uObz5dvMgjz1OxfM/XXUB+VHtZ6isGN', /is not an SSH key age can/],
  [`ssh-ed25519 ${sshParts('ssh-ed25519', Buffer.alloc(32)).toString('base64')}`, /is not an SSH key age can/],
  [
    `ssh-ed25519 ${sshParts('ssh-ed25519', Buffer.alloc(32).fill(1, 0, 1)).toString('base64')}`,
    /is not an SSH key age can/,
  ],
  ['ssh-dss AAAAB3NzaC1kc3MAAAAA', /is not an SSH key age can encrypt for/],
  [`ssh-rsa ${smallRsa.toString('base64')}`, /the recipient ssh-rsa AAAA\S+…\S+ is not an SSH key/],
  ['age1yubikey1qwt50d05nh5vutpdzmlg5wn80xq5negm4uj9ghv0snvdd3yysf5yw3rhl3t', /needs an age plugin/],
  ['age1nonsense', /'age1nonsense' is not an age recipient/],
])('the recipient %s is refused by name', async (recipient, message) => {
  await expect(wrapDataKey(dataKey, [recipient])).rejects.toThrow(message);
});

test('an identity in the place of a recipient is refused and not shown', async () => {
  const { identity } = await generateAgeKey();
  const error = await wrapDataKey(dataKey, [identity]).catch((thrown: unknown) => thrown as Error);
  expect(String(error)).toContain('an age identity, which is secret');
  expect(String(error)).not.toContain(identity);
});

test('an identity of a plugin does not stand in the way of another, and is named when nothing opens', async () => {
  const alice = await generateAgeKey();
  const keys = await wrapDataKey(dataKey, [alice.recipient]);
  expect(await unwrapDataKey(keys, ['AGE-PLUGIN-YUBIKEY-1QQQ', alice.identity])).toEqual(dataKey);
  await expect(unwrapDataKey(keys, ['AGE-PLUGIN-YUBIKEY-1QQQ'])).rejects.toMatchObject({
    code: 'no-key',
    hint: expect.stringContaining('age plugins'),
  });
});

test.each(['ssh-ed25519', 'ssh-rsa'] as const)(
  'a data key wrapped for %s is opened by that key alone',
  async (type) => {
    const mine = makeOpenSshKey(type);
    const alice = await generateAgeKey();
    const keys = await wrapDataKey(dataKey, [mine.recipient]);
    expect(keys[0]!.recipient).toBe(mine.recipient);
    expect(await unwrapDataKey(keys, [alice.identity, mine.pem])).toEqual(dataKey);
    expect(await recipientOf(mine.pem)).toBe(mine.recipient.replace(' me@here', ''));
    for (const other of [makeOpenSshKey(type).pem, alice.identity]) {
      await expect(unwrapDataKey(keys, [other])).rejects.toMatchObject({
        code: 'no-key',
        hint: expect.stringContaining('SOPS_AGE_SSH_PRIVATE_KEY_FILE'),
      });
    }
  },
);

test('a private SSH key in the place of a recipient is refused and not shown', async () => {
  const { pem } = makeOpenSshKey('ssh-ed25519');
  const error = await wrapDataKey(dataKey, [pem]).catch((thrown: unknown) => thrown as Error);
  expect(String(error)).toContain('a private SSH key, which is secret');
  expect(String(error)).not.toContain(pem.split('\n')[2]);
});

test('a file for very many, or with a recipient of any length, is told in a few lines', async () => {
  const keys = Array.from({ length: 1000 }, () => ({ recipient: 'x'.repeat(10_000), enc: '-' }));
  const { message } = (await unwrapDataKey(keys, []).catch((thrown: unknown) => thrown as Error)) as Error;
  expect(message).toMatch(/^no age identity to open the file with; it is for x+…x+, .* and 980 more$/);
  expect(message.length).toBeLessThan(2000);
});
