import { expect, test } from 'vitest';
import { decodeContinueToken, encodeContinueToken } from './continue-token.ts';

test('writes the token the real server wrote for the same page', () => {
  expect(encodeContinueToken({ revision: 224, start: 'c-unk' })).toBe(
    'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjI0LCJzdGFydCI6Ii9jLXVua1x1MDAwMCJ9',
  );
});

test('reads both forms the real server writes', () => {
  expect(decodeContinueToken('eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6OTU0LCJzdGFydCI6ImVkXHUwMDAwIn0')).toEqual({
    revision: 954,
    start: 'ed\u0000',
  });
  expect(decodeContinueToken(encodeContinueToken({ revision: 5, start: 'ns/x' }))).toEqual({
    revision: 5,
    start: 'ns/x\u0000',
  });
});

test.each([
  ['abc', "invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value"],
  ['a?c', 'invalid continue token: continue key is not valid: illegal base64 data at input byte 1'],
  ['', 'invalid continue token: continue key is not valid: unexpected end of JSON input'],
])('refuses %s', (token, message) => {
  expect(() => decodeContinueToken(token)).toThrow(message);
});
