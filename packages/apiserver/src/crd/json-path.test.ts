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
  [String.raw`.metadata.annotations['a\.b/c']`, ['dotted']],
  [".metadata.annotations['a.b/c']", []],
  ['.spec.list[0:2].n', [1, 2]],
  ['.spec.list[1:].n', [2]],
  ['.spec.list[::2].n', [1]],
  ['.spec.list[0,1].n', [1, 2]],
  ['.spec..n', [1, 2]],
  ['.status.conditions[?(@.status)].type', ['Ready', 'Synced']],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type != 'Ready')].status", ['False']],
  ['.spec.list[?(@.n>1)].n', [2]],
  ['.spec.nope.deep', []],
])('%s', (path, expected) => {
  expect(compileJsonPath(path).find(object)).toEqual(expected);
});

it.each([
  ['.spec[', 'unterminated array'],
  ['.spec[a]', 'invalid array index a'],
  ['.spec[?(@.a', 'unterminated filter'],
  ['.spec[?(@.a)', 'unclosed array expect ]'],
  ['.list[?(@.a=="x" && @.b=="y")]', 'unrecognized character in action: "&"'],
  ['....', 'invalid multiple recursive descent'],
  ['.spec[?(@.a=="x)]', 'unterminated filter'],
])('says what it does not understand in %s', (path, problem) => {
  expect(() => compileJsonPath(path)).toThrow(problem);
});

it.each([
  ['.spec.map[0]', 'not a list'],
  ['.spec.list[7]', 'array index out of bounds'],
  ['.spec.list[1:0]', 'the slice ends before it starts'],
  ['.spec.list[?(@.n=="1")]', 'incompatible types for comparison'],
  ['.spec.map[?(@.x)]', 'cannot be filtered'],
])('finds nothing but an error with %s', (path, problem) => {
  expect(() => compileJsonPath(path).find(object)).toThrow(problem);
});
