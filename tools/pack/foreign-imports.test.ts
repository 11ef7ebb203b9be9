import { expect, test } from 'vitest';

import { importedPackages, undeclared } from './foreign-imports.ts';

test('finds the packages modules and types import', () => {
  const text = [
    "import { Type } from 'typebox';",
    "import { readFile } from 'node:fs/promises';",
    "import './neighbour.js';",
    "export { x } from '@slipway/kube';",
    'export declare const y: import("@scope/types/deep").Y;',
    "const late = await import('late-one/part.js');",
    " * import { example } from 'only-in-a-comment';",
    String.raw`const pattern = /^import \{ \w+ \} from '\.\/api-v\d+\.ts';\n/gm;`,
  ];
  expect(importedPackages(text.join('\n'))).toEqual(['typebox', '@slipway/kube', '@scope/types', 'late-one']);
});

test('what is imported and not asked for is named', () => {
  const manifest = {
    name: '@slipway/harbour',
    version: '1.2.3',
    dependencies: { yaml: '2.9.1' },
    peerDependencies: { '@slipway/testing': '1.2.3' },
  };
  const imported = ['yaml', 'typebox', '@slipway/testing', '@slipway/harbour'];
  expect(undeclared(imported, manifest)).toEqual(['typebox']);
});
