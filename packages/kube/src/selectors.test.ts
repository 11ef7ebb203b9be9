import { describe, expect, test } from 'vitest';

import {
  formatFieldSelector,
  formatLabelSelector,
  labelSelectorRequirements,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
} from './selectors.ts';

describe('label selectors', () => {
  const labels = { app: 'web', tier: 'a', gen: '5', 'example.com/x': '' };
  test.each([
    ['', true],
    ['app=web', true],
    ['app==web,tier!=b', true],
    ['app', true],
    ['!legacy', true],
    ['!app', false],
    ['tier in (a, b)', true],
    ['tier notin (a,b)', false],
    ['missing notin (a)', true],
    ['missing!=a', true],
    ['gen>4', true],
    ['gen<5', false],
    ['app>4', false],
    ['example.com/x=', true],
    ['app = web , tier in (a)', true],
    ['in=web', false],
  ])('"%s" matches: %s', (selector, expected) => expect(matchesLabels(labels, selector)).toBe(expected));

  test.each([
    ['app=', { app: '' }, true],
    ['constructor', {}, false],
  ])('"%s" looks only at labels', (selector, given, expected) => expect(matchesLabels(given, selector)).toBe(expected));

  test.each([
    ['a b', 'expected =, ==, !=, <, >, in or notin at character 3'],
    ['a in b', 'expected "(" at character 6'],
    ['a in (b', 'expected ")"'],
    ['=x', '"" is not a label key'],
    ['a=x y', 'expected "," or the end at character 5'],
    ['a>b', '"b" is not an integer'],
    ['a=-x', '"-x" is not a label value'],
    ['a,,b', '"" is not a label key at character 3'],
  ])('"%s" is refused: %s', (selector, problem) => expect(() => parseLabelSelector(selector)).toThrow(problem));

  test('are printed as they go into a URL', () => {
    expect(formatLabelSelector({ app: 'web', tier: 'a' })).toBe('app=web,tier=a');
    const text = 'app=web,tier in (a,b),x!=y,z notin (a,b),!legacy,here,g>3,h<2';
    expect(formatLabelSelector(parseLabelSelector(text))).toBe(text);
  });

  test('come from metav1.LabelSelector', () => {
    const requirements = labelSelectorRequirements({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['a', 'b'] },
        { key: 'old', operator: 'DoesNotExist' },
      ],
    });
    expect(matchesLabels(labels, requirements)).toBe(true);
    expect(formatLabelSelector(requirements)).toBe('app=web,tier in (a,b),!old');
    expect(() => labelSelectorRequirements({ matchExpressions: [{ key: 'a', operator: 'In' }] })).toThrow(
      'a In needs at least one value',
    );
  });
});

describe('field selectors', () => {
  const pod = { metadata: { name: 'a' }, status: { phase: 'Running' }, spec: { n: 3 } };
  test.each([
    ['metadata.name=a', true],
    ['metadata.name==a,status.phase!=Failed', true],
    ['spec.n=3', true],
    ['spec.missing=', true],
    ['spec.missing!=', false],
  ])('"%s" matches: %s', (selector, expected) => expect(matchesFields(pod, selector)).toBe(expected));

  test('escape commas, equals signs and backslashes', () => {
    const requirements = [{ field: 'spec.x', equals: true, value: String.raw`a,b=c\d` }];
    const text = formatFieldSelector(requirements);
    expect(text).toBe(String.raw`spec.x=a\,b\=c\\d`);
    expect(parseFieldSelector(text)).toEqual(requirements);
  });

  test.each(['spec.x', '=a', 'a=b,c'])('"%s" is refused', (text) =>
    expect(() => parseFieldSelector(text)).toThrow('field selector'),
  );
});
