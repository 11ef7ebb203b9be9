import { describe, expect, it } from 'vitest';
import { ApiError } from '../api-error.ts';
import { parseLabelSelector } from './label-selector.ts';

function selects(text: string, labels: Record<string, string>): boolean {
  return parseLabelSelector(text)?.(labels) ?? true;
}

describe('label selectors', () => {
  it.each([
    ['', {}, true],
    ['app=x', { app: 'x' }, true],
    ['app==x', { app: 'y' }, false],
    ['app!=x', {}, true],
    ['app!=x', { app: 'x' }, false],
    ['app in (x,y),!foo', { app: 'y' }, true],
    ['app in (x,y),!foo', { app: 'y', foo: '' }, false],
    ['app notin (x)', {}, true],
    ['app notin (x)', { app: 'x' }, false],
    ['app', { app: '' }, true],
    ['app', {}, false],
    ['size>3', { size: '10' }, true],
    ['size>3', { size: '2' }, false],
    ['size<3', {}, false],
    ['example.com/app = x , tier', { 'example.com/app': 'x', tier: 'a' }, true],
    ['app=', { app: '' }, true],
    ['app in ()', { app: '' }, true],
  ])('%s on %o is %s', (text, labels, expected) => {
    expect(selects(text, labels as Record<string, string>)).toBe(expected);
  });

  it.each([
    ['===', "found '==', expected: !, identifier, or 'end of string'"],
    ['a=b,', "found '', expected: identifier after ','"],
    ['a b', "found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a in x', "found 'x' expected: '('"],
  ])('%s is refused as the real parser does', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(ApiError);
    expect(() => parseLabelSelector(text)).toThrow(message);
  });
});
