import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';

import { AsciiExpression } from './ascii-expression.ts';

/** Where the groups of each match are, by RE2. */
function byRe2(expression: string, text: string): (string | null)[][] {
  const matcher = RE2JS.compile(expression).matcher(text);
  const found: (string | null)[][] = [];
  while (matcher.find())
    found.push([
      `${matcher.start()}-${matcher.end()}`,
      ...Array.from({ length: matcher.groupCount() }, (_, index) => matcher.group(index + 1)),
    ]);
  return found;
}

function byUs(expression: AsciiExpression, text: string): (string | null)[][] {
  const found: (string | null)[][] = [];
  for (let from = 0; ;) {
    const places = expression.search(text, from);
    if (!places) return found;
    const [start, end] = places as [number, number];
    const groups = Array.from({ length: expression.groupCount - 1 }, (_, index) => {
      const begin = places[2 * index + 2]!;
      return begin < 0 ? null : text.slice(begin, places[2 * index + 3]);
    });
    found.push([`${start}-${end}`, ...groups]);
    from = start === end ? end + 1 : end;
  }
}

/** What expressions are made of, put together without regard for sense. */
const pieces = fc
  .array(
    fc.constantFrom(
      ...'a¦b¦-¦ ¦.¦^¦$¦|¦(¦)¦(?:¦(a¦b)¦[ab]¦[^a]¦[a-c]¦[a-]¦[^a-z\\d\\-]¦[c-a]¦[]a]¦[\\w-b]¦[a-c-e]¦\\d¦\\D¦\\w¦\\W'.split(
        '¦',
      ),
      ...'\\s¦\\S¦\\.¦\\-¦\\b¦\\A¦\\_¦\\1¦*¦+¦?¦*?¦{2}¦{¦}¦]¦1¦/¦,¦é¦(a|b)¦(a?b)+¦(a*)+¦(?i)¦(?P<n>a)'.split('¦'),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));
const texts = fc.string({
  unit: fc.constantFrom('a', 'a', 'b', '-', '-', '1', ' ', '.', '_', '/', 'A', '\n', '\t'),
  maxLength: 12,
});

const usual = [
  '(-?[^a-z\\d\\-])+-?',
  '[^A-Za-z0-9]+$',
  '\\W',
  '-r\\d+$|sha256:',
  '@sha.*',
  '^([0-9]+)(\\.[0-9]+)?(\\.[0-9]+)?(-([0-9A-Za-z\\-]+(\\.[0-9A-Za-z\\-]+)*))?(\\+([0-9A-Za-z\\-]+(\\.[0-9A-Za-z\\-]+)*))?$',
  'v[0-9]+\\.[0-9]+\\.[0-9]+',
  '^https?://',
];

describe('AsciiExpression', () => {
  it('finds what RE2 finds, or leaves the expression to it', () => {
    fc.assert(
      fc.property(fc.oneof(pieces, fc.constantFrom(...usual)), texts, (expression, text) => {
        const ours = AsciiExpression.compile(expression);
        if (ours) expect(byUs(ours, text)).toEqual(byRe2(expression, text));
      }),
      { numRuns: 5000 },
    );
  });

  it.each(usual)('reads %s, which charts have', (expression) => {
    const ours = AsciiExpression.compile(expression)!;
    for (const text of [
      '',
      'shop',
      'kube-prometheus-',
      '1.34.0-debian-12-r3',
      'web@sha256:00',
      'https://a.b',
      'v1.2.3+x.y',
    ])
      expect(byUs(ours, text)).toEqual(byRe2(expression, text));
  });

  it.each(['(a*)*b', '(a|b', 'a{2}', '[[:alpha:]]', '\\pL', 'é', 'a*?', '(?i)a', '[z-a]', '', 'a|'])(
    'leaves %j to RE2',
    (expression) => {
      expect(AsciiExpression.compile(expression)).toBeUndefined();
    },
  );

  it('tries no place twice: an expression that would double with every letter answers at once', () => {
    const ours = AsciiExpression.compile('(aa?|a)+b')!;
    expect(ours.search('a'.repeat(200), 0)).toBeUndefined();
  });
});
