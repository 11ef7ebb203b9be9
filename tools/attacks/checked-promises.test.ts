import { access, glob } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { checkedPromises, root } from './checked-promises.ts';

test('every promise of docs/security.md names tests that are there', async () => {
  const promises = await checkedPromises();
  expect(promises.length).toBeGreaterThan(20);
  for (const { promise, files } of promises) {
    expect({ promise, tests: files.length }).not.toEqual({ promise, tests: 0 });
    for (const file of files) await access(join(root, file));
  }
});

test('every attack is one a promise of docs/security.md names, so that npm run test:attacks runs it', async () => {
  const named = new Set((await checkedPromises()).flatMap(({ files }) => files));
  const attacks = await Array.fromAsync(glob('packages/*/test/attacks/*.test.ts', { cwd: root }));
  expect(attacks.filter((file) => !named.has(file))).toEqual([]);
});
