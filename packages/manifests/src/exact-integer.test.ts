import type { KubeObject } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { diffObjects } from './diff.ts';
import { parseExactJson } from './exact-integer.ts';
import { isAppliedAlready } from './owned-fields.ts';
import { parseManifests } from './parse.ts';

/** 2^53 + 1: the first whole number a JavaScript number cannot hold. */
const large = '9007199254740993';
const rounded = '9007199254740992';

const thing = (spec: string) =>
  parseExactJson(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":${spec}}`) as KubeObject;

describe('whole numbers beyond 2^53', () => {
  test.each([
    ['YAML', `apiVersion: v1\nkind: Thing\nmetadata: {name: a}\nspec: {size: ${large}, list: [-${large}]}\n`],
    ['JSON', `{"apiVersion":"v1","kind":"Thing","metadata":{"name":"a"},"spec":{"size":${large},"list":[-${large}]}}`],
  ])('pass through a manifest in %s unchanged', (_format, text) => {
    expect(JSON.stringify(parseManifests(text)[0]!['spec'])).toBe(`{"size":${large},"list":[-${large}]}`);
  });

  test('pass through JSON unchanged, and nothing else is touched', () => {
    const text = `{"a":${large},"b":"${large}","c":[1,1.5,1e30,-${large}],"d":9007199254740991}`;
    expect(JSON.stringify(parseExactJson(text))).toBe(text.replace('1e30', '1e+30'));
  });

  test('differ as one value', () => {
    const change = diffObjects(thing(`{"size":${large}}`), thing(`{"size":${rounded}}`));
    expect(change.map(({ path }) => path)).toEqual(['spec.size']);
    expect(JSON.stringify(change)).toBe(`[{"path":"spec.size","from":${large},"to":${rounded}}]`);
    expect(diffObjects(thing(`{"size":${large}}`), thing(`{"size":${large}}`))).toEqual([]);
  });

  test.each([
    ['a field', `{"size":${large}}`, { 'f:spec': { 'f:size': {} } }],
    ['an item of a set', `{"list":[${large}]}`, { 'f:spec': { 'f:list': { [`v:${large}`]: {} } } }],
    [
      'the key of an item',
      `{"list":[{"id":${large}}]}`,
      { 'f:spec': { 'f:list': { [`k:{"id":${large}}`]: { '.': {}, 'f:id': {} } } } },
    ],
  ])('count when ownership is compared: %s', (_name, spec, fieldsV1) => {
    const live = thing(spec);
    live.metadata.managedFields = [
      { manager: 'me', operation: 'Apply', apiVersion: 'example.com/v1', fieldsType: 'FieldsV1', fieldsV1 },
    ];
    expect(isAppliedAlready(thing(spec), live, 'me')).toBe(true);
    expect(isAppliedAlready(thing(spec.replace(large, rounded)), live, 'me')).toBe(false);
  });
});
