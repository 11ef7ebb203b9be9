import { StorageError } from '@slipway/apiserver';
import { expect, test } from 'vitest';

import { DiskNotice } from './disk-notice.ts';

function noticed(): { readonly notice: DiskNotice; readonly said: string[] } {
  const said: string[] = [];
  return { notice: new DiskNotice('data', (line) => said.push(line)), said };
}

test('a folder that takes no more changes is told once, with what to do, and once that it takes them again', () => {
  const { notice, said } = noticed();
  const full = new StorageError('full', 'the words of any program', { hint: 'make room' });
  notice.failed(full);
  notice.failed(full);
  expect(notice.problem).toBe(full);
  notice.stored();
  notice.stored();
  expect(notice.problem).toBeUndefined();
  expect(said).toEqual(['cannot keep changes in data: the disk is full; make room', 'changes are kept in data again']);
});

test('a read-only folder is not told to make room', () => {
  const { notice, said } = noticed();
  notice.failed(new StorageError('read-only', 'any', { hint: 'make the folder writable' }));
  expect(said).toEqual(['cannot keep changes in data: it is read-only; make the folder writable']);
});

test('an error that only speaks of a full disk is none of the folder', () => {
  const { notice, said } = noticed();
  notice.failed(new Error('the webhook answered: database or disk is full'));
  notice.failed(undefined);
  expect(said).toEqual([]);
});
