import { describe, expect, test } from 'vitest';

import { innerImport, mutualFolders } from './folders.ts';

describe('mutualFolders', () => {
  test('two folders that import each other are named with the files that do it', () => {
    const imports = [
      { from: 'a/one.ts', to: 'b/two.ts' },
      { from: 'b/three.ts', to: 'a/four.ts' },
    ];
    expect(mutualFolders(imports)).toEqual([
      'folders must not import each other: a/one.ts imports b/two.ts, b/three.ts imports a/four.ts',
    ]);
  });

  test('a circle through a third folder is found too, once', () => {
    const imports = [
      { from: 'c/x.ts', to: 'a/x.ts' },
      { from: 'a/x.ts', to: 'b/x.ts' },
      { from: 'b/x.ts', to: 'c/x.ts' },
    ];
    expect(mutualFolders(imports)).toHaveLength(1);
  });

  test('arrows that point one way, files at the top and imports inside a folder are fine', () => {
    const imports = [
      { from: 'a/x.ts', to: 'b/x.ts' },
      { from: 'a/x.ts', to: 'c/x.ts' },
      { from: 'b/x.ts', to: 'c/x.ts' },
      { from: 'a/x.ts', to: 'a/y.ts' },
      { from: 'top.ts', to: 'a/x.ts' },
      { from: 'a/x.ts', to: 'top.ts' },
    ];
    expect(mutualFolders(imports)).toEqual([]);
  });
});

test('an import that leaves src is not one between its folders', () => {
  expect(innerImport('/p/src', '/p/src/a/x.ts', '../b/y.ts')).toEqual({ from: 'a/x.ts', to: 'b/y.ts' });
  expect(innerImport('/p/src', '/p/src/a/x.ts', '../../test/kit.ts')).toBeUndefined();
  expect(innerImport('/p/src', '/p/test/x.ts', '../src/a/y.ts')).toBeUndefined();
});
