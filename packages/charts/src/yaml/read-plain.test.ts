import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromPlain } from '../go/values.ts';
import { composeFirst } from './compose.ts';
import { construct } from './construct.ts';
import { readPlain } from './read-plain.ts';
import { helmRules } from './read.ts';
import { writeYaml } from './write.ts';

const plainly = (text: string) => readPlain(text, helmRules);

/** The strict reader alone. What it refuses, the plain reader must leave to it. */
function strictly(text: string): unknown {
  const document = composeFirst(text, 'v2');
  return document ? construct(document, {}) : null;
}

/** Pieces of lines, usual and not, put together without regard for sense. */
const piece = fc.oneof(
  fc.constantFrom(...'a: ¦b:¦a: 1¦on: yes¦- ¦-¦- a: ¦? ¦: ¦:x¦#¦ # c¦ ¦  ¦    ¦\t¦text¦two words'.split('¦')),
  fc.constantFrom(...String.raw`|¦|-¦|+¦>¦>-¦|2¦"q"¦'q'¦"¦'¦''¦"\n"¦"\x41"¦\¦[]¦{}¦[a, b]¦{a: b}¦[¦]¦{¦}¦,`.split('¦')),
  fc.constantFrom(...'&x ¦*x¦!!str ¦<<¦<<: ¦---¦...¦%Y¦~¦null¦0x1F¦1e3¦.inf¦-1¦2020-01-01¦@¦`'.split('¦')),
  fc.constantFrom(...'\r¦\ufeff¦\u2028¦é¦，¦😀¦\0¦http://x:1¦a#b¦"a b": ¦\'k\': '.split('¦')),
);
const line = fc
  .tuple(fc.nat({ max: 4 }), fc.array(piece, { maxLength: 4 }))
  .map(([indent, pieces]) => ' '.repeat(indent) + pieces.join(''));
const lines = fc.array(line, { maxLength: 8 }).map((all) => all.join('\n'));

const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: fc.constantFrom('a', ' ', '\n', ':', '#', '-', "'", '"', '1', '\t', ',', '[', '~', '\\', 'é') }),
    fc.lorem({ maxCount: 3, mode: 'sentences' }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'on', 'n', '1', 'b-c', 'd/e', 'f g', ''), tie('value'), { maxKeys: 4 }),
  ),
})).value;

/** A text in quotes over several lines, and a list in brackets. */
const words = fc.constantFrom('', ' ', '  ', 'a', 'b ', ' c', "''", '#', ': ', '-', '\\\\', '\\n', '\\x41', '\\');
const quotedLines = fc
  .tuple(fc.constantFrom("'", '"'), fc.array(fc.array(words, { maxLength: 3 }), { minLength: 1, maxLength: 5 }))
  .map(([quote, written]) => `a: ${quote}${written.map((line) => line.join('')).join('\n  ')}${quote}\nb: 1\n`);
const item = fc.constantFrom(
  'a',
  '1',
  '0x1F',
  '1e3',
  'on',
  'null',
  '~',
  '"b"',
  "'c'",
  '""',
  '"d, e"',
  'f g',
  '-',
  '1e999',
);
const bracketLists = fc
  .tuple(fc.constantFrom('', 'a: ', '- '), fc.array(item), fc.constantFrom(',', ', ', ' , '))
  .map(([before, items, comma]) => `${before}[${items.join(comma)}]`);

const bracketMaps = fc
  .tuple(
    fc.constantFrom('', 'a: ', '- '),
    fc.array(
      fc.tuple(
        fc.constantFrom('a', 'b-c', 'd/e', '1', 'on', '0x1F', '1e999', '"q"', '', '-', 'null'),
        fc.constantFrom(': ', ':', ':  ', ' : '),
        fc.oneof(item, fc.constantFrom('[]', '[ ]', '{}', '[a, "b"]', '[ 1,c ]', '[a, [b]]', '{a: b}', '[a', '')),
      ),
    ),
    fc.constantFrom(',', ', ', ' , '),
    fc.constantFrom('', ' '),
  )
  .map(
    ([before, pairs, comma, space]) => `${before}{${space}${pairs.map((pair) => pair.join('')).join(comma)}${space}}`,
  );

/** Well-formed text with one thing put into it or taken out of it. */
const nearly = fc
  .tuple(value, fc.nat(), fc.nat({ max: 3 }), fc.oneof(fc.constant(''), piece, fc.constant('\n')))
  .map(([written, place, removed, added]) => {
    const text = writeYaml(fromPlain({ value: written }));
    const at = place % (text.length + 1);
    return text.slice(0, at) + added + text.slice(at + removed);
  });

describe('readPlain', () => {
  it('answers what the strict reader does, or nothing', () => {
    fc.assert(
      fc.property(fc.oneof(lines, nearly, quotedLines, bracketLists, bracketMaps), (text) => {
        const plain = plainly(text);
        if (plain !== undefined) expect(plain).toEqual(strictly(text));
      }),
      { numRuns: 3000 },
    );
  });

  it('reads what charts are made of without the strict reader', () => {
    const text = `# a chart
name: web
on: yes # a boolean to Go
empty:
"quoted key": 'it''s'
text: one line
  and the next
list:
- 1
-   a: 0x10
    b: []
- - deep
script: |
  if x; then
    y
  fi

last: |-
  kept
`;
    expect(plainly(text)).toEqual(strictly(text));
    expect(plainly(text)).toBeDefined();
  });

  it.each([
    ['an empty mapping', '{}'],
    ['an empty list', '[]\n'],
    ['a short list', 'drop: ["ALL"]\nports: [443, http, \'x-1\']'],
    ['a quoted text with blank lines', "a:\n  b: 'one  \n\n    it''s two\n   \n\n    three\n    '\n  c: 1"],
    ['escapes that JSON has, too', String.raw`a: "NT AUTHORITY\\system\n\"x\""`],
  ])('does not ask the strict reader for %s', (_what, text) => {
    const rules = { ...helmRules, strict: () => expect.unreachable() };
    expect(readPlain(text, rules)).toEqual(strictly(text));
  });

  it.each([
    ['an alias', 'a: &x 1\nb: *x'],
    ['a merge', 'a: {b: 1}\n<<: {c: 2}'],
    ['a tag', 'a: !!str 1'],
    ['a second document', 'a: 1\n---\nb: 2'],
    ['a tab', 'a:\tb'],
    ['a line that fits nowhere', 'a: 1\n  b: 2'],
    ['a number JSON does not have', 'a: .inf'],
    ['an open bracket', 'a: [1'],
    ['a lone scalar', 'text'],
  ])('leaves %s to the strict reader', (_what, text) => {
    expect(plainly(text)).toBeUndefined();
  });
});

describe('what programs write that people rarely do', () => {
  it.each([
    ['a key of several words', 'a:\n  with space (x): y\n  a:b: z\n'],
    ['keys in quotes with quotes in them', '\'it\'\'s\': 1\n"\\"q\\"": 2\n'],
    ['a key of more than 128 bytes', `a:\n- ? ${'k'.repeat(140)}\n  : v\n  b: 1\n- c\n`],
    ['a literal block that begins with spaces', 'a:\n- b: |2-\n      two\n    none\n  c: 1\n'],
    ['a literal block that keeps its last lines', 'a: |+\n  text\n\n\nb: 1\n'],
    ['a folded block', 'a: >-\n  one\n  two\n\n  three\nb: 1\n'],
    ['a document that begins with its marker', '---\na: 1\n'],
    ['characters beyond the first plane', 'a: go 🚀\n'],
  ])('%s is read at once, and as the strict reader does', (_, text) => {
    expect(plainly(text)).toEqual(strictly(text));
    expect(plainly(text)).toBeDefined();
  });
});
