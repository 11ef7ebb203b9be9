import { expect, test } from 'vitest';

import { OpenedSecrets } from './opened-secrets.ts';

const keys = new Set(['key']);

test('a secret file is known by its bytes and the keys it was opened with', () => {
  const opened = new OpenedSecrets();
  opened.remember('sealed', keys, 'text');
  expect(opened.of('sealed', keys)).toBe('text');
  expect(opened.of('sealed again', keys)).toBeUndefined();
  expect(opened.of('sealed', new Set())).toBeUndefined();
  expect(opened.of('sealed', new Set(['key', 'other']))).toBeUndefined();
});

test('what nobody asked for in a whole round is forgotten: a secret does not outlive its file', () => {
  const opened = new OpenedSecrets();
  opened.remember('kept', keys, 'a');
  opened.remember('gone', keys, 'b');
  opened.forgetOthers();
  expect(opened.of('kept', keys)).toBe('a');
  opened.forgetOthers();
  expect(opened.of('gone', keys)).toBeUndefined();
  expect(opened.of('kept', keys)).toBe('a');
});
