import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromPlain, strings } from '../go/values.ts';
import { TemplateExecError, TemplateParseError } from './template-error.ts';
import { TemplateSet, type TemplateSetOptions } from './template-set.ts';

function run(text: string, data: unknown = {}, options: TemplateSetOptions = { missingKey: 'zero' }): string {
  const set = new TemplateSet(options);
  set.add('t', text);
  return set.execute('t', fromPlain(data));
}

describe('a template', () => {
  it('keeps the two nils of Go apart', () => {
    expect(run('{{ .a }}|{{ (.a).b }}|{{ $x := .a }}{{ $x.b }}')).toBe('<no value>|<no value>|<no value>');
    expect(() => run('{{ .a.b }}')).toThrow('nil pointer evaluating interface {}.b');
  });

  it('prints numbers as Go does', () => {
    expect(run('{{ .a }} {{ .b }} {{ 3 }} {{ 1.0 }} {{ 1e6 }}', { a: 1_000_000, b: 2.5 })).toBe('1e+06 2.5 3 1 1e+06');
  });

  it('ranges over maps in the order of their keys, by bytes', () => {
    expect(run('{{ range $k, $v := . }}{{ $k }}={{ $v }} {{ end }}', { b: 1, é: 2, Z: 3, a10: 4, a9: 5 })).toBe(
      'Z=3 a10=4 a9=5 b=1 é=2 ',
    );
  });

  it('trims around actions and leaves the rest alone', () => {
    expect(run('a \n {{- 1 -}} \n\t b {{ 2 }} c {{- /* no */ -}} d')).toBe('a1b 2 cd');
  });

  it('gives variables a scope, and assigns to the one outside', () => {
    expect(run('{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ end }}{{ $x }}')).toBe('1');
    expect(run('{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ end }}{{ $x }}')).toBe('2');
    expect(() => run('{{ if true }}{{ $x := 2 }}{{ end }}{{ $x }}')).toThrow('undefined variable "$x"');
  });

  it('keeps each call of a template to its own variables', () => {
    expect(
      run(
        '{{ define "a" }}{{ $v := . }}{{ if gt . 0 }}{{ template "a" 0 }}{{ end }}{{ $v }}{{ end }}{{ template "a" 5 }}',
      ),
    ).toBe('05');
  });

  it('names file, line, column and expression when it fails', () => {
    const error = (() => {
      try {
        run('é:\n  ü {{ index .a 3 }}', { a: [1] });
      } catch (thrown) {
        return thrown;
      }
      return undefined;
    })();
    expect(error).toBeInstanceOf(TemplateExecError);
    expect((error as TemplateExecError).message).toBe(
      'template: t:2:8: executing "t" at <index .a 3>: error calling index: index out of range: 3',
    );
  });

  it('names the type of an element as Go sees it: an interface, unless all of them are of one type', () => {
    const complaint = (loop: string) => `${loop}{{ .nope }}{{ end }}`;
    expect(() => run(complaint('{{ range .a }}'), { a: ['x'] })).toThrow(
      "can't evaluate field nope in type interface {}",
    );
    expect(() => run(complaint('{{ range 3 }}'))).toThrow("can't evaluate field nope in type int");
    expect(() => run('{{ range $x := .a }}{{ range 3 }}{{ end }}{{ .nope }}{{ end }}', { a: ['x'] })).toThrow(
      "can't evaluate field nope in type interface {}",
    );
    const set = new TemplateSet();
    set.add('t', complaint('{{ range .words }}'));
    expect(() => set.execute('t', new Map([['words', strings(['x'])]]))).toThrow(
      "can't evaluate field nope in type string",
    );
  });

  it('says what was called that is no function', () => {
    expect(() => run('{{ call .a 1 }}', { a: 2 })).toThrow('error calling call: non-function .a of type float64');
    expect(() => run('{{ .a | call }}', { a: 2 })).toThrow('non-function <float64 Value> of type float64');
    expect(() => run('{{ .a | call }}', { a: 'x' })).toThrow('non-function x of type string');
  });

  it('prints what cannot be compared as Go does, as if it were a text', () => {
    expect(() => run('{{ eq .a .a }}', { a: [1, 'x'] })).toThrow(
      'non-comparable type [%!s(float64=1) x]: []interface {}',
    );
  });

  it('does not let a blank definition replace one that says something', () => {
    const set = new TemplateSet();
    set.add('one', '{{ define "x" }}kept{{ end }}');
    set.add('two', '{{ define "x" }}\n{{ end }}{{ template "x" }}');
    expect(set.execute('two', null)).toBe('kept');
  });

  it('fails on a missing key where that is asked for', () => {
    expect(() => run('{{ .a }}', {}, { missingKey: 'error' })).toThrow('map has no entry for key "a"');
  });
});

describe('bad templates', () => {
  it('are blamed on the line where a block begins that ends with an else', () => {
    expect(() => run('a\n{{ block "b" . }}\n{{ else }}\n{{ end }}')).toThrow(
      'template: t:2: unexpected {{else}} in block clause',
    );
  });

  it('have characters that are too long, and such as are none', () => {
    expect(() => run(`{{ 'ab' }}`)).toThrow("malformed character constant: 'ab'");
    for (const text of [`''`, String.raw`'\q'`, String.raw`'\x4'`, String.raw`'\"'`])
      expect(() => run(`{{ ${text} }}`)).toThrow('template: t:1: invalid syntax');
  });

  it('end a recursion that has no end', () => {
    const text =
      '{{ define "a" }}{{ template "b" . }}{{ end }}{{ define "b" }}{{ template "a" . }}{{ end }}{{ template "a" . }}';
    expect(() => run(text)).toThrow('exceeded maximum template depth');
  });

  it('are refused when they are nested deeper than anybody writes', () => {
    expect(() => run('{{ if true }}'.repeat(20_000))).toThrow('max nesting of actions exceeded');
    expect(() => run(`{{ ${'('.repeat(20_000)} }}`)).toThrow('max expression depth exceeded');
    expect(() => run(`{{ if 1 }}${'{{ else if 1 }}'.repeat(5_000)}{{ end }}`)).toThrow(TemplateParseError);
  });

  it('never make anything but a result or an error with a place', () => {
    const piece = fc.constantFrom(
      '{{',
      '}}',
      '{{-',
      '-}}',
      ' ',
      'if',
      'else',
      'end',
      'range',
      'with',
      'define',
      'template',
      'block',
      'break',
      '.',
      '.a',
      '$',
      '$x',
      ':=',
      '=',
      '|',
      '(',
      ')',
      ',',
      '"s"',
      '`r`',
      "'c'",
      '1',
      '1.5',
      '0x',
      'nil',
      'true',
      '/*',
      '*/',
      'printf',
      'index',
      'len',
      'and',
      'eq',
      '\n',
      'é',
      '\\',
      '"',
      'x',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        try {
          run(pieces.join(' '), { a: [1, { b: null }] });
          run(`{{ ${pieces.join(' ')} }}`, { a: [1, { b: null }] });
        } catch (error) {
          expect(error instanceof TemplateParseError || error instanceof TemplateExecError).toBe(true);
          expect((error as Error).message).toMatch(/^template: t(:\d+(:\d+)?)?: /);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
