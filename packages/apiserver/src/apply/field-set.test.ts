import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FieldSet, printPath } from './field-set.ts';

const element = fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:"y"', 'i:0');
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 12 });
const sets = paths.map((list) => FieldSet.of(...list));

describe('FieldSet', () => {
  it('survives the way through FieldsV1', () => {
    fc.assert(
      fc.property(sets, (set) => {
        expect(FieldSet.fromFieldsV1(set.toFieldsV1()).equals(set)).toBe(true);
      }),
    );
  });

  it('obeys the laws of sets', () => {
    fc.assert(
      fc.property(sets, sets, sets, (a, b, c) => {
        expect(a.union(b).equals(b.union(a))).toBe(true);
        expect(
          a
            .union(b)
            .union(c)
            .equals(a.union(b.union(c))),
        ).toBe(true);
        expect(a.intersection(b).equals(b.intersection(a))).toBe(true);
        expect(a.difference(b).intersection(b).isEmpty).toBe(true);
        expect(a.difference(b).union(a.intersection(b)).equals(a)).toBe(true);
        expect(a.difference(a).isEmpty).toBe(true);
        expect(a.recursiveDifference(b).difference(a.difference(b)).isEmpty).toBe(true);
      }),
    );
  });

  it('has exactly the paths it was made of', () => {
    fc.assert(
      fc.property(paths, (list) => {
        const set = FieldSet.of(...list);
        const printed = new Set(list.map(printPath));
        expect(new Set([...set.paths()].map(printPath))).toEqual(printed);
        for (const path of list) expect(set.has(path)).toBe(true);
      }),
    );
  });

  it('writes a node that is a member and has children with a dot', () => {
    expect(FieldSet.of(['f:a'], ['f:a', 'f:b'], ['f:c', 'f:d']).toFieldsV1()).toEqual({
      'f:a': { '.': {}, 'f:b': {} },
      'f:c': { 'f:d': {} },
    });
  });

  it('prints paths as Go does', () => {
    expect(printPath(['f:spec', 'f:ports', 'k:{"port":1,"proto":"TCP"}', 'f:name'])).toBe(
      '.spec.ports[port=1,proto="TCP"].name',
    );
    expect(printPath(['f:tags', 'v:"x"'])).toBe('.tags[="x"]');
  });

  it('refuses elements FieldsV1 does not know', () => {
    expect(() => FieldSet.fromFieldsV1({ 'x:a': {} })).toThrow('unrecognized path element "x:a"');
  });
});
