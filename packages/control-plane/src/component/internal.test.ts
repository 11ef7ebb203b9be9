import fc from 'fast-check';
import { expect, test } from 'vitest';

import { ComponentError } from './component-error.ts';
import { Internal, InternalTexts } from './internal.ts';

test('what is internal prints as stars wherever it gets by mistake', () => {
  const secret = new Internal('canary-token', new InternalTexts());
  expect(`${secret}`).toBe('***');
  expect(JSON.stringify({ secret })).toBe('{"secret":"***"}');
  expect(secret.reveal()).toBe('canary-token');
});

test('a text that was internal is taken out of every other text', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 4 }), fc.string(), fc.string(), (secret, before, after) => {
      fc.pre(!'***'.includes(secret) && !before.includes('*') && !after.includes('*') && !secret.includes('*'));
      const texts = new InternalTexts();
      new Internal(secret, texts);
      expect(texts.redact(before + secret + after)).not.toContain(secret);
    }),
  );
});

test('a piece of a kubeconfig in an error is taken out, the address of the server is not', () => {
  const texts = new InternalTexts();
  new Internal('server: https://api.example.com:6443\ntoken: eyJhbGciOiJSUzI1NiJ9.canary\n', texts);
  expect(texts.redact('https://api.example.com:6443 refused eyJhbGciOiJSUzI1NiJ9.canary')).toBe(
    'https://api.example.com:6443 refused ***',
  );
});

test('an error keeps its reason and loses what is internal, also what hides in its cause', () => {
  const texts = new InternalTexts();
  new Internal('canary-token', texts);
  expect(texts.clean(new ComponentError('InternalError', 'canary-token was refused'))).toMatchObject({
    reason: 'InternalError',
    message: '*** was refused',
  });
  const cleaned = texts.clean(new Error('refused', { cause: new Error('canary-token') })) as Error;
  expect([cleaned.message, cleaned.cause]).toEqual(['refused', undefined]);
  const harmless = new Error('refused', { cause: new Error('why') });
  expect(texts.clean(harmless)).toBe(harmless);
});

test('all texts of a value are cleaned, whatever its shape', () => {
  const texts = new InternalTexts();
  new Internal('canary', texts);
  expect(texts.redactAll({ a: ['canary', 1, null], b: { c: 'x canary y' } })).toEqual({
    a: ['***', 1, null],
    b: { c: 'x *** y' },
  });
});
