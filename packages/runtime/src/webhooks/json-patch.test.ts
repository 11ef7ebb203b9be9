import type { JsonPatchOperation } from '@slipway/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { jsonPatchBetween } from './json-patch.ts';

/** RFC 6902 for the three operations we produce. */
function applied(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  let root = structuredClone(document) as Record<string, unknown>;
  for (const operation of operations) {
    const names = operation.path
      .split('/')
      .slice(1)
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = names.pop();
    if (last === undefined) {
      root = (operation as { value: unknown }).value as typeof root;
      continue;
    }
    const parent = names.reduce((tree, name) => tree[name] as Record<string, unknown>, root);
    if (Array.isArray(parent)) {
      const index = Number(last);
      if (operation.op === 'remove') {
        expect(index).toBeLessThan(parent.length);
        parent.splice(index, 1);
      } else if (operation.op === 'add') {
        expect(index).toBeLessThanOrEqual(parent.length);
        parent.splice(index, 0, operation.value);
      } else if (operation.op === 'replace') parent[index] = operation.value;
    } else if (operation.op === 'remove') {
      expect(parent).toHaveProperty([last]);
      delete parent[last];
    } else if ('value' in operation) {
      Object.defineProperty(parent, last, {
        value: operation.value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
  }
  return root;
}

test('the patch between two documents turns one into the other', () => {
  const document = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'a/b', 'a~b', '', '0'), tie('value')),
    ),
  })).value;
  fc.assert(
    fc.property(document, document, (before, after) => {
      expect(applied(before, jsonPatchBetween(before, after))).toEqual(after);
    }),
    { numRuns: 500 },
  );
});

test('one more container in the middle of a list is one operation', () => {
  const before = { spec: { containers: [{ name: 'a' }, { name: 'c' }] } };
  const after = { spec: { containers: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] } };
  expect(jsonPatchBetween(before, after)).toEqual([{ op: 'add', path: '/spec/containers/1', value: { name: 'b' } }]);
});

test('a field set to undefined is a field removed', () => {
  expect(jsonPatchBetween({ a: 1, b: 2 }, { a: undefined, b: 2 })).toEqual([{ op: 'remove', path: '/a' }]);
});
