import { describe, expect, test } from 'vitest';

import { InputError } from './input-error.ts';
import type { Kind } from './kind.ts';
import { collectionPath, objectPath } from './resource-path.ts';

const Thing: Kind = {
  group: 'example.com',
  version: 'v1beta1',
  kind: 'Thing',
  plural: 'things',
  scope: 'Namespaced',
  apiVersion: 'example.com/v1beta1',
};
const key = { namespace: 'default', name: 'a' };
const tricks = ['..', '.', '../x', 'x/../y', 'x/y', 'x?a=', 'x#', 'x%2Fy', 'x;y', 'x y', 'x\r\ny', 'x\\y', '-', 'x.'];

describe('a path', () => {
  test('is that of the object', () => {
    expect(objectPath(Thing, key, 'status')).toBe('/apis/example.com/v1beta1/namespaces/default/things/a/status');
    expect(collectionPath({ ...Thing, group: '', version: 'v1' })).toBe('/api/v1/things');
    // Roles have such names.
    expect(objectPath(Thing, { ...key, name: 'system:a b?c#d' })).toMatch(/\/things\/system%3Aa%20b%3Fc%23d$/);
  });

  test.each(['group', 'version', 'plural'] as const)('is never one that the %s of a kind has made up', (part) => {
    for (const trick of part === 'group' ? tricks : ['', ...tricks])
      expect(() => objectPath({ ...Thing, [part]: trick }, key)).toThrow(InputError);
  });

  test.each(['namespace', 'name'] as const)('does not leave its collection by a %s', (part) => {
    for (const trick of ['..', '.', '../x', 'x/y', 'x%2Fy', '%2e%2e'])
      expect(() => objectPath(Thing, { ...key, [part]: trick })).toThrow(InputError);
  });
});
