import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyMergePatch } from './merge-patch.ts';

describe('applyMergePatch', () => {
  it('merges maps, replaces lists and removes what is null', () => {
    const document = { a: { b: 1, c: 2 }, l: [1, 2], s: 'x' };
    const patch = { a: { b: null, d: { e: null, f: [{ g: null, h: 1 }] } }, l: [3], s: { now: 'map' } };
    expect(applyMergePatch(document, patch)).toEqual({
      a: { c: 2, d: { f: [{ h: 1 }] } },
      l: [3],
      s: { now: 'map' },
    });
    expect(document).toEqual({ a: { b: 1, c: 2 }, l: [1, 2], s: 'x' });
  });

  it('keeps a field called __proto__ a field', () => {
    const patch = JSON.parse('{"__proto__":{"polluted":1}}') as object;
    expect(JSON.stringify(applyMergePatch({}, patch))).toBe('{"__proto__":{"polluted":1}}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('is idempotent', () => {
    const map = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(map, map, (document, patch) => {
        const once = applyMergePatch(document, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
      }),
    );
  });
});
