import { expect, test } from 'vitest';

import { publishedMap, publishedTypes } from './take-module.ts';

test('types import the built neighbours', () => {
  const text = [
    "import type { A } from './a.ts';",
    "export * from '../b/c.ts';",
    'export declare const d: import("./d.ts").D;',
    "import 'node:fs';",
    '/** Run `node website.ts`. */',
  ];
  expect(publishedTypes(text.join('\n')).split('\n')).toEqual([
    "import type { A } from './a.js';",
    "export * from '../b/c.js';",
    'export declare const d: import("./d.js").D;',
    "import 'node:fs';",
    '/** Run `node website.ts`. */',
  ]);
});

test('source maps name the source in its package', () => {
  const map = { version: 3, sources: ['../../../../packages/kube/src/a/b.ts'], sourcesContent: ['export {};'] };
  expect(JSON.parse(publishedMap(JSON.stringify(map), 'a/b.js.map'))).toEqual({
    ...map,
    sources: ['../../src/a/b.ts'],
  });
});
