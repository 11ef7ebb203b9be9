import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../api-error.ts';
import { decodeJsonPatch } from './decode-patch.ts';
import { applyJsonPatch, jsonPatchOperations } from './json-patch.ts';

function failure(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status.code} ${error.status.reason ?? ''} ${error.message}`;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const rejected = '422 Invalid the server rejected our request due to an error in our request';

describe('applyJsonPatch', () => {
  it.each([
    [
      { op: 'add', path: '/a/b', value: 1 },
      { a: { b: 1 }, l: [1, 2] },
    ],
    [
      { op: 'add', path: '/l/-', value: 3 },
      { a: {}, l: [1, 2, 3] },
    ],
    [
      { op: 'add', path: '/l/0', value: 0 },
      { a: {}, l: [0, 1, 2] },
    ],
    [
      { op: 'remove', path: '/l/-1' },
      { a: {}, l: [1] },
    ],
    [
      { op: 'add', path: '/l/-1', value: 9 },
      { a: {}, l: [1, 2, 9] },
    ],
    [
      { op: 'replace', path: '/l/1', value: 9 },
      { a: {}, l: [1, 9] },
    ],
    [
      { op: 'replace', path: '/missing', value: 9 },
      { a: {}, l: [1, 2], missing: 9 },
    ],
    [{ op: 'replace', path: '', value: { x: 1 } }, { x: 1 }],
    [
      { op: 'move', from: '/l/0', path: '/a/x' },
      { a: { x: 1 }, l: [2] },
    ],
    [
      { op: 'copy', from: '/l', path: '/a/l' },
      { a: { l: [1, 2] }, l: [1, 2] },
    ],
    [
      { op: 'test', path: '/l/0', value: 1 },
      { a: {}, l: [1, 2] },
    ],
    [
      { op: 'test', path: '/nope', value: null },
      { a: {}, l: [1, 2] },
    ],
    [
      { op: 'add', path: '/a/x~1y~0z', value: 1 },
      { a: { 'x/y~z': 1 }, l: [1, 2] },
    ],
  ])('does %j', (operation, expected) => {
    const document = { a: {}, l: [1, 2] };
    expect(applyJsonPatch(document, [operation])).toEqual(expected);
    expect(document).toEqual({ a: {}, l: [1, 2] });
  });

  it.each([
    { op: 'test', path: '/l/0', value: 2 },
    { op: 'remove', path: '/missing' },
    { op: 'remove', path: '/l/7' },
    { op: 'replace', path: '/l/7', value: 1 },
    { op: 'move', from: '/missing', path: '/a' },
    { op: 'add', path: '/missing/deep', value: 1 },
    { op: 'add', path: '/l/9', value: 1 },
    { op: 'add', path: '', value: {} },
    { op: 'copy', from: '/missing/deep', path: '/a' },
    { op: 'frobnicate', path: '/a' },
    { op: 'add', path: '/a/b/c', value: 1 },
    { op: 'add', path: '/l/x', value: 1 },
  ])('rejects %j', (operation) => {
    expect(failure(() => applyJsonPatch({ a: { b: 'text' }, l: [1] }, [operation]))).toBe(rejected);
  });

  it('cannot reach what objects inherit', () => {
    expect(failure(() => applyJsonPatch({}, [{ op: 'add', path: '/__proto__/polluted', value: 1 }]))).toBe(rejected);
    expect(failure(() => applyJsonPatch({}, [{ op: 'add', path: '/constructor/prototype/x', value: 1 }]))).toBe(
      rejected,
    );
    const added = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: 'mine' }]);
    expect(JSON.stringify(added)).toBe('{"__proto__":"mine"}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('undoes what it did', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.jsonValue(), (document, key, value) => {
        if (Object.hasOwn(document, key)) return;
        const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        const there = applyJsonPatch(document, [{ op: 'add', path, value: value as never }]);
        expect(applyJsonPatch(there, [{ op: 'remove', path }])).toEqual(document);
      }),
    );
  });

  it('refuses bodies that are no patch', () => {
    expect(failure(() => jsonPatchOperations({}))).toBe(
      '400 BadRequest error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
    expect(failure(() => decodeJsonPatch(Buffer.from('[{')))).toBe(
      '400 BadRequest error decoding patch: unexpected end of JSON input',
    );
    expect(failure(() => jsonPatchOperations(Array.from({ length: 10_001 }, () => ({}))))).toMatch(/^413 /);
    expect(decodeJsonPatch(Buffer.from('[{"op":"add","path":"/a","value":1,"x":1}]')).strictErrors).toEqual([
      'json patch unknown field "[0].x"',
    ]);
  });
});

/** Each operation copies all there is into itself. */
const doubling = (times: number) =>
  Array.from({ length: times }, (_, index) => ({ op: 'copy', from: '/a', path: `/a/k${index}` }));

it('copies of 3 MiB in all are refused, however few operations make them', () => {
  const start = { a: { text: 'x'.repeat(1_000) } };
  const copied = applyJsonPatch(start, doubling(10));
  expect(JSON.stringify(copied).length).toBeGreaterThan(1_000_000);
  expect(() => applyJsonPatch(start, doubling(12))).toThrow(/the server rejected our request/);
  expect(() => applyJsonPatch(start, doubling(10_000))).toThrow(/the server rejected our request/);
  const wide = { a: 'x'.repeat(100_000), list: [] };
  const copies = (times: number) => Array.from({ length: times }, () => ({ op: 'copy', from: '/a', path: '/list/-' }));
  expect(applyJsonPatch(wide, copies(31)).list).toHaveLength(31);
  expect(() => applyJsonPatch(wide, copies(32))).toThrow(/the server rejected our request/);
});

it('a short patch cannot push a long list around all day', () => {
  const document = { list: Array.from({ length: 1_000_000 }, () => 0) };
  const insert = (times: number) => Array.from({ length: times }, () => ({ op: 'add', path: '/list/0', value: 1 }));
  expect(applyJsonPatch(document, insert(20)).list).toHaveLength(1_000_020);
  expect(() => applyJsonPatch(document, insert(10_000))).toThrow(/the server rejected our request/);
});
