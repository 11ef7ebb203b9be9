import { describe, expect, it } from 'vitest';
import { fromPlain, toPlain, typeOf, type GoMap } from '../go/values.ts';
import { parseSet, parseSetFile, type SetMode } from './set.ts';

function set(text: string, mode: SetMode = 'typed', into: object = {}): unknown {
  return toPlain(parseSet(text, fromPlain(into) as GoMap, mode));
}

describe('parseSet', () => {
  it('reads pairs, levels, lists and indexes', () => {
    expect(set('a=1,b.c=x,d={1,two},e[1].f=y')).toEqual({
      a: 1,
      b: { c: 'x' },
      d: [1, 'two'],
      e: [null, { f: 'y' }],
    });
  });

  it('knows numbers, booleans and null, and leaves numbers with a leading zero alone', () => {
    expect(set('a=true,b=FALSE,c=null,d=007,e=0,f=1.5,g=,h=-3')).toEqual({
      a: true,
      b: false,
      c: null,
      d: '007',
      e: 0,
      f: '1.5',
      g: '',
      h: -3,
    });
    expect(typeOf(parseSet('a=1', new Map()).get('a'))).toBe('int64');
  });

  it('takes a character after a backslash as it is', () => {
    expect(set(String.raw`a\.b=c\,d,e=f`)).toEqual({ 'a.b': 'c,d', e: 'f' });
  });

  it('keeps everything as text when told to', () => {
    expect(set('a=1,b=true', 'string')).toEqual({ a: '1', b: 'true' });
    expect(set(String.raw`a.b=x,y\n={}`, 'literal')).toEqual({ a: { b: String.raw`x,y\n={}` } });
  });

  it('reads JSON values side by side', () => {
    expect(set('a={"x":[1,2]},b="s, t",c[1]=null', 'json')).toEqual({ a: { x: [1, 2] }, b: 's, t', c: [null, null] });
  });

  it('lies over what is there', () => {
    expect(set('a.b=2,l[0]=z', 'typed', { a: { b: 1, c: 3 }, l: ['x', 'y'] })).toEqual({
      a: { b: 2, c: 3 },
      l: ['z', 'y'],
    });
  });

  it.each([
    ['a', 'key "a" has no value'],
    ['a,b=1', 'key "a" has no value (cannot end with ,)'],
    ['a[x]=1', 'error parsing index'],
    ['a[-1]=1', 'negative -1 index not allowed'],
    ['a[99999999]=1', 'greater than maximum supported index'],
    ['a={1,2', "list must terminate with '}'"],
    [`${'a.'.repeat(40)}b=1`, 'nested level'],
  ])('refuses %s', (text, message) => {
    expect(() => set(text)).toThrow(message);
  });

  it('makes a list of an item that is empty, and of no other', () => {
    expect(set('a[0][1]=x', 'typed', { a: [null] })).toEqual({ a: [[null, 'x']] });
    expect(() => set('a[0][1]=x', 'typed', { a: [{ b: 1 }] })).toThrow('item 0 is no list');
  });

  it('reads files for --set-file', async () => {
    const values = await parseSetFile('a=one.txt,b.c=two.txt', new Map(), async (path) => `<${path}>`);
    expect(toPlain(values)).toEqual({ a: '<one.txt>', b: { c: '<two.txt>' } });
  });
});
