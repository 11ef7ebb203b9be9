import { expect, test } from 'vitest';

import { Cleanup } from './cleanup.ts';

test('closes the last thing first, once', async () => {
  const closed: string[] = [];
  const cleanup = new Cleanup();
  cleanup.defer(() => closed.push('first'));
  cleanup.defer(async () => closed.push('second'));
  await cleanup[Symbol.asyncDispose]();
  await cleanup[Symbol.asyncDispose]();
  expect(closed).toEqual(['second', 'first']);
});

test('closes the others when one cannot be closed, and says the first failure', async () => {
  const closed: string[] = [];
  const cleanup = new Cleanup();
  cleanup.defer(() => closed.push('first'));
  cleanup.defer(() => Promise.reject(new Error('later')));
  cleanup.defer(() => {
    throw new Error('earlier');
  });
  await expect(cleanup[Symbol.asyncDispose]()).rejects.toThrow('earlier');
  expect(closed).toEqual(['first']);
});

test('what was handed over is closed by its new owner only', async () => {
  const closed: string[] = [];
  let owner: Cleanup;
  {
    await using cleanup = new Cleanup();
    cleanup.defer(() => closed.push('handed over'));
    owner = cleanup.move();
  }
  expect(closed).toEqual([]);
  await owner[Symbol.asyncDispose]();
  expect(closed).toEqual(['handed over']);
});
