import { expect, test } from 'vitest';

import { generateAgeKey, unwrapDataKey, wrapDataKey } from './age-keys.ts';

const dataKey = new Uint8Array(32).fill(7);

test.each([
  ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHsKLqeplhpW+uObz5dvMgjz1OxfM/XXUB+VHtZ6isGN', /is an SSH key/],
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

test('a file for SSH keys alone says that they cannot be used here', async () => {
  const alice = await generateAgeKey();
  const [key] = await wrapDataKey(dataKey, [(await generateAgeKey()).recipient]);
  const keys = [{ ...key!, recipient: 'ssh-ed25519 AAAA' }];
  await expect(unwrapDataKey(keys, [alice.identity])).rejects.toMatchObject({
    hint: expect.stringContaining('SSH keys cannot be used'),
  });
});
