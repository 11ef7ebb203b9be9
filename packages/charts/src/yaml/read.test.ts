import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromPlain, toPlain } from '../go/values.ts';
import { readAllYaml, readYaml } from './read.ts';
import { writeYaml } from './write.ts';

function read(text: string): unknown {
  return toPlain(readYaml(text));
}

describe('readYaml', () => {
  it.each([
    ['a block whose last line is cut off ends without a line break', 'a: |\n  x\n  y', { a: 'x\ny' }],
    ['a whole one ends with it', 'a: |\n  x\n  y\n', { a: 'x\ny\n' }],
    ['a folded one, too', 'b: >\n  x\n  y', { b: 'x y' }],
    ['nor does one whose last line is of spaces beyond its indentation', 'a: |\n  x\n    ', { a: 'x\n  ' }],
    ['whichever reader gets it', 'a: |+\n  x\n    ', { a: 'x\n  ' }],
    ['spaces that are its indentation are no line', 'a: |+\n  x\n  ', { a: 'x\n' }],
    ['`<<` as a value is a text', 'a: <<\nb: [<<]', { a: '<<', b: ['<<'] }],
    ['a text in quotes goes on in any column', 'a: "b\nc"\nd: 1', { a: 'b c', d: 1 }],
    ['what begins further out than the first key is not looked at', '  a: b\n c: d', { a: 'b' }],
    ['nor is what stands after a whole in brackets', '{a: 1} b', { a: 1 }],
    ['a long integer keeps its digits as a key', '123456789012345678: a', { '123456789012345678': 'a' }],
    ['also on a line of its own', '? 123456789012345678\n: a', { '123456789012345678': 'a' }],
    ['also for the strict reader', 'b: &x {123456789012345678: a}', { b: { '123456789012345678': 'a' } }],
    [
      'a float is a key of 32 bits',
      '3.14159265358: a\n1e6: b\n1.10: c',
      { '3.1415927': 'a', '1e+06': 'b', '1.1': 'c' },
    ],
    ['infinity is one, too', '.inf: a\n-.inf: b\n.nan: c', { '.inf': 'a', '-.inf': 'b', '.nan': 'c' }],
    ['a key in a block of its own keeps its last line break', '? |\n  long\n: a', { 'long\n': 'a' }],
    ['and its own indentation', 'x:\n  ? |2-\n      a\n    b\n  : c', { x: { '  a\nb': 'c' } }],
    ['a block that is empty is followed by nothing', 'a: |2+\nb: 1', { a: '', b: 1 }],
    ['a byte order mark belongs to the line it begins', '\ufeffa: 1\n\ufeffb: 2', { a: 1, '\ufeffb': 2 }],
    [
      'a single quote may be escaped in double ones',
      String.raw`a: "it\'s \\' \"so\'"${'\n'}b: 'x\'${'\n'}c: "y\'"`,
      { a: `it's \\' "so'`, b: 'x\\', c: "y'" },
    ],
  ])('%s', (_sentence, text, expected) => {
    expect(toPlain(readYaml(text))).toEqual(expected);
  });

  it.each([
    ['a: *nope', "unknown anchor 'nope' referenced"],
    ['a: [*b]', "unknown anchor 'b' referenced"],
    ['a: !!int x', 'cannot decode !!str `x` as a !!int'],
    ['a: !!binary "a b"', '!!binary value contains invalid base64 data'],
    ['%YAML 1.2\n---\na: 1', 'found incompatible YAML document'],
    ['a: \u0001', 'control characters are not allowed'],
    ['a: 1\n- 2', 'yaml: line 1: did not find expected key'],
    ['a: [b\n[c', "yaml: line 1: did not find expected ',' or ']'"],
    ['a: 1\nb: [\n[', 'yaml: line 3: did not find expected node content'],
    ['a: b\n[', "yaml: line 3: could not find expected ':'"],
    ['a:\n  - b\n c: d', 'yaml: line 2: did not find expected key'],
    ['a:\n  - b\n  c: d', "yaml: line 2: did not find expected '-' indicator"],
    ['a: b: c', 'yaml: mapping values are not allowed in this context'],
    ['a: @b', 'yaml: found character that cannot start any token'],
    ['a: 1\nb: "c', 'yaml: line 2: found unexpected end of stream'],
    ['a: |\n\tb', 'yaml: line 2: found a tab character where an indentation space is expected'],
    ['~: a', 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "a"'],
    [`a: 1\n${'b'.repeat(1025)}: 2`, "yaml: line 2: could not find expected ':'"],
    ['a: 1\n  b: 2', 'yaml: line 2: mapping values are not allowed in this context'],
    ['18446744073709551615: a', 'unsupported map key of type: uint64, key: 0xffffffffffffffff, value: "a"'],
    ['[a]: b', 'yaml: invalid map key: []interface {}{"a"}'],
    [String.raw`a: "b\/c"`, 'unknown escape character'],
    [String.raw`{"a": "\ud83d\ude00"}`, 'invalid Unicode character escape code'],
    ['\t', 'found character that cannot start any token'],
    ['# a\n...\nb: 1', 'did not find expected node content'],
  ])('refuses %j as Helm does', (text, message) => {
    expect(() => readYaml(text)).toThrow(message);
  });

  it('reads YAML 1.1 as go-yaml v2 does', () => {
    expect(read('a: [yes, off, 010, 0x1F, 1_000, 1e3, ~, 12:30, 2020-01-01, "yes", 0o17]')).toEqual({
      a: [true, false, 8, 31, 1000, 1000, null, '12:30', '2020-01-01', 'yes', 15],
    });
  });

  it('makes strings of keys', () => {
    expect(read('y: 1\n1: 2\n1.5: 3\nnull_: 4')).toEqual({ true: 1, 1: 2, 1.5: 3, null_: 4 });
  });

  it('keeps keys that mean something to JavaScript', () => {
    expect(readYaml('__proto__: 1\nconstructor: 2')).toEqual(
      new Map([
        ['__proto__', 1],
        ['constructor', 2],
      ]),
    );
  });

  it('reads the first document only, whatever follows', () => {
    expect(read('# c\n---\na: 1\n---\n}{ nonsense')).toEqual({ a: 1 });
    expect(readAllYaml('a: 1\n---\nb: 2').map(toPlain)).toEqual([{ a: 1 }, { b: 2 }]);
  });

  it('merges where the key stands', () => {
    expect(read('x: &x {a: 1, b: 2}\ny_: {a: 0, <<: *x}\nz: {<<: [*x, {c: 3, a: 9}], b: 5}')).toMatchObject({
      y_: { a: 1, b: 2 },
      z: { a: 1, b: 5, c: 3 },
    });
  });

  it('gives each alias a copy of its own', () => {
    const value = readYaml('a: &x {b: 1}\nc: *x') as Map<string, Map<string, number>>;
    value.get('c')!.set('b', 2);
    expect(toPlain(value)).toEqual({ a: { b: 1 }, c: { b: 2 } });
  });

  it('reads a closing bracket in the column of its key, as many charts write it', () => {
    expect(read('a:\n  args: [\n    "x",\n    yes\n  ]\n  b: 010\n')).toEqual({ a: { args: ['x', true], b: 8 } });
  });

  it('refuses a billion laughs within bounds', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 12; i += 1)
      lines.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      );
    expect(() => readYaml(lines.join('\n'))).toThrow('excessive aliasing');
  });

  it('refuses deep nesting and says where', () => {
    expect(() => readYaml('['.repeat(100_000))).toThrow(/yaml: line \d+/);
    expect(() => readYaml('a: 1\nb: [2\n')).toThrow(/yaml: line \d+/);
  });

  it('reads back what it wrote', () => {
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: fc.constantFrom('a', ' ', '\n', ':', '#', '-', "'", '"', '1', '\t', ',', '[', '~', 'é') }),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number)),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(json, (value) => {
        // Charts hold mappings; go-yaml and the specification count the indentation of a lone block scalar differently.
        const go = fromPlain({ value });
        expect(readYaml(writeYaml(go))).toEqual(go);
      }),
      { numRuns: 500 },
    );
  });
});
