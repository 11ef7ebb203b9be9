import { expect, it } from 'vitest';
import { compileJsonPath } from './json-path.ts';

const object = {
  metadata: { annotations: { 'a.b/c': 'dotted' } },
  spec: { list: [{ n: 1 }, { n: 2 }], map: { x: 1, y: 2 } },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Synced', status: 'False' },
    ],
  },
};

it.each([
  ['.spec.list[0].n', [1]],
  ['.spec.list[-1].n', [2]],
  ['.spec.list[*].n', [1, 2]],
  ['.spec.map.*', [1, 2]],
  [String.raw`.metadata.annotations.a\.b/c`, ['dotted']],
  [".metadata.annotations['a.b/c']", ['dotted']],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type != 'Ready')].status", ['False']],
  ['.spec.list[?(@.n>1)].n', [2]],
  ['.spec.nope.deep', []],
])('%s', (path, expected) => {
  expect(compileJsonPath(path).find(object)).toEqual(expected);
});

it('says what it does not understand', () => {
  expect(() => compileJsonPath('.spec[')).toThrow('unrecognized character in action: "["');
});
