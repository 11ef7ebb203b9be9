import { expect, test } from 'vitest';

import { readJson, writeJson } from './formats/json-format.ts';
import { parseTreePath, setValueAt, unsetValueAt, valueAt } from './tree-path.ts';

const text = '{"a":{"b":[1,{"c":2}]},"n":null}';

test('a path is written as in sops', () => {
  expect(parseTreePath(`["a b"]['c'][10]`)).toEqual(['a b', 'c', 10]);
  expect(parseTreePath('')).toEqual([]);
});

test.each(['a', '["a"', '["a"]b', '[-1]', '[a]'])('%s is no path', (path) => {
  expect(() => parseTreePath(path)).toThrow('is not a path');
});

test('a value is found by keys and places', () => {
  expect(valueAt(readJson(text), ['a', 'b', 1, 'c'])).toBe(2n);
});

test.each([
  [['a', 'x'], 'there is no ["a"]["x"]'],
  [['a', 'b', 7], 'there is no ["a"]["b"][7]'],
  [['a', 'b', 'c'], '["a"]["b"] is a list, so there is no ["c"] in it'],
  [['a', 0], '["a"] is a map, so there is no [0] in it'],
  [['a', 'b', 0, 'c'], '["a"]["b"][0] is a single value, so there is no ["c"] in it'],
])('%j leads nowhere', (path, message) => {
  expect(() => valueAt(readJson(text), path)).toThrow(message);
});

test.each([
  [['a', 'b', 0], '{"a":{"b":[9,{"c":2}]},"n":null}'],
  [['a', 'b', 2], '{"a":{"b":[1,{"c":2},9]},"n":null}'],
  [['a', 'x', 'y', 0], '{"a":{"b":[1,{"c":2}],"x":{"y":[9]}},"n":null}'],
  [['n', 'x'], '{"a":{"b":[1,{"c":2}]},"n":{"x":9}}'],
])('a value is set at %j', (path, expected) => {
  const root = readJson(text);
  setValueAt(root, path, 9n);
  expect(writeJson(root)).toBe(writeJson(readJson(expected)));
});

test.each([
  [['a', 'b', 5], 'has 2 elements: the next is [2]'],
  [['a', 'b', 0, 'x'], 'is a single value'],
  [[], 'the whole file cannot be set'],
])('nothing is set at %j', (path, message) => {
  expect(() => setValueAt(readJson(text), path, 9n)).toThrow(message);
});

test('a value is taken out', () => {
  const root = readJson(text);
  unsetValueAt(root, ['a', 'b', 0]);
  unsetValueAt(root, ['n']);
  expect(writeJson(root)).toBe(writeJson(readJson('{"a":{"b":[{"c":2}]}}')));
  expect(() => unsetValueAt(root, ['n'])).toThrow('there is no ["n"]');
  expect(() => unsetValueAt(root, [])).toThrow('the whole file cannot be taken out');
});
