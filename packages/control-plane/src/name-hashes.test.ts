import { expect, test } from 'vitest';

import { k8sNameHash, platformNamespace, prefixWithNamespace } from './name-hashes.ts';

test('names are hashed as the original does', () => {
  expect(k8sNameHash('test', 'test')).toBe('yjtt5ew6oatfj4szxucl2qkehqva3n5h');
  expect(k8sNameHash('test').slice(0, 8)).toBe('vffi7zom');
  expect(platformNamespace('test', 'test')).toBe('mcp--64a6996c-d3d8-8c53-8ec4-7f8ee576e070');
  expect(platformNamespace('default', 'example')).toBe('mcp--2bcf790e-815e-8ea9-857b-15be429583a5');
});

test('a name that would be too long is cut and made unique', () => {
  expect(prefixWithNamespace('team', 'demo')).toBe('team--demo');
  const long = prefixWithNamespace('my-control-plane-ns', 'my-way-too-long-control-plane-name-0123456789');
  expect(long).toBe('my-control-plane-ns--my-way-too-long-control-plane-na--536b070d');
  expect(long).toHaveLength(63);
});
