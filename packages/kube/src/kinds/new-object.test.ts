import { expect, test } from 'vitest';

import { ConfigMap } from './core-kinds.ts';
import { defineKind } from './define-kind.ts';
import { newObject } from './new-object.ts';
import { Type } from './type.ts';

const metadata = { namespace: 'default', name: 'shop' };

test('a new object knows its kind', () => {
  expect(newObject(ConfigMap, { metadata, data: { a: 'b' } })).toEqual({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { a: 'b' },
  });
});

test('what was not given has its default, as on the server', () => {
  const Website = defineKind({
    group: 'example.com',
    version: 'v1',
    kind: 'Website',
    scope: 'Namespaced',
    spec: Type.Object({
      replicas: Type.Integer({ default: 1 }),
      pages: Type.Array(Type.Object({ path: Type.String(), cached: Type.Boolean({ default: true }) })),
    }),
  });
  const site = newObject(Website, { metadata, spec: { pages: [{ path: '/' }, { path: '/news', cached: false }] } });
  expect(site.spec).toEqual({
    replicas: 1,
    pages: [
      { path: '/', cached: true },
      { path: '/news', cached: false },
    ],
  });
  expect(newObject(Website, { metadata, spec: { replicas: 3, pages: [] } }).spec.replicas).toBe(3);
});
