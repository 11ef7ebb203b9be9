import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Value } from '../go/values.ts';
import { KnownActions } from './known-actions.ts';
import { parse } from './parser.ts';
import { TemplateSet } from './template-set.ts';

/** Reads every action anew. */
class Forgetful extends KnownActions {
  override get(): undefined {
    return undefined;
  }
}

const pieces = [
  'text',
  ' \n ',
  '{{ .a }}',
  '{{- .a -}}',
  '{{ $x }}',
  '{{ $x := 1 }}',
  '{{ $x = .a }}',
  '{{ ($y := 2) }}',
  '{{ print $y ($y := 2) }}',
  '{{ $ }}',
  '{{ $ = .a }}',
  '{{ "}}" }}',
  '{{ `{{` }}',
  '{{/* }} */}}',
  '{{ if .a }}',
  '{{ if $x := .a }}',
  '{{- with $x }}',
  '{{ range $i, $x := .a }}',
  '{{ range . -}}',
  '{{ else }}',
  '{{ else if .a }}',
  '{{ else with .b }}',
  '{{ end }}',
  '{{- end -}}',
  '{{ break }}',
  '{{ template "t" . }}',
  '{{ template "t" }}',
  '{{ define "t" }}',
  '{{ block "b" . }}',
  '{{ print .a | print (len .b) }}',
  '{{ nofunction }}',
  '{{ .a',
  '{{ }}',
  '{{ -}}',
  '}}',
];
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((all) => all.join(''));

describe('KnownActions', () => {
  it('changes neither what is parsed nor what is complained about', () => {
    const hasFunction = (name: string) => name === 'print' || name === 'len';
    const known = new KnownActions();
    const outcome = (written: string, actions: KnownActions) => {
      try {
        return [...parse('t.yaml', written, hasFunction, actions)];
      } catch (error) {
        return (error as Error).message;
      }
    };
    fc.assert(
      fc.property(text, (written) => {
        expect(outcome(written, known)).toEqual(outcome(written, new Forgetful()));
      }),
      { numRuns: 2000 },
    );
  });

  it('blames the place where the action stands this time', () => {
    const set = new TemplateSet();
    set.add('a', '{{ .x.y }}\n{{ with .z }}  {{ .x.y }}{{ end }}');
    set.add('b', '\n\n {{ .x.y }}');
    const failure = (name: string, data: object) => {
      try {
        return set.execute(name, new Map(Object.entries(data)));
      } catch (error) {
        return (error as Error).message;
      }
    };
    const deep = new Map([['y', 'deep']]);
    expect(failure('a', { x: deep, z: new Map([['x', 'text']]) })).toBe(
      `template: a:2:20: executing "a" at <.x.y>: can't evaluate field y in type interface {}`,
    );
    expect(failure('b', { x: 'text' })).toBe(
      `template: b:3:6: executing "b" at <.x.y>: can't evaluate field y in type interface {}`,
    );
  });

  it('goes on at the right place behind a template that was called', () => {
    const set = new TemplateSet();
    set.add('long', `${' '.repeat(100)}{{ define "t" }}{{ 1 }}{{ end }}`);
    set.add('a', '{{ template "t" }}{{ if true }}{{ template "t" }}{{ end }}{{ .x.y }}');
    expect(() => set.execute('a', new Map([['x', 'text']]))).toThrow('template: a:1:63: executing "a" at <.x.y>');
  });

  it('keeps variables of one template from another that says the same', () => {
    const set = new TemplateSet();
    set.add('a', '{{ $x := "a" }}{{ $y := "b" }}{{ print $x $y }}');
    set.add('b', '{{ $y := "c" }}{{ $x := "d" }}{{ print $x $y }}{{ $.z }}');
    set.add('c', '{{ $ = . }}{{ range $ = .list }}{{ $.z }}{{ end }}');
    expect(set.execute('a', undefined)).toBe('ab');
    expect(set.execute('b', new Map([['z', 'e']]))).toBe('dce');
    const list = [new Map([['z', 'f']]), new Map([['z', 'g']])];
    expect(set.execute('c', new Map([['list', list]]))).toBe('fg');
    set.add('d', '{{ $ := .own }}{{ $.z }}');
    const data = new Map<string, Value>([
      ['z', 'h'],
      ['own', new Map([['z', 'i']])],
    ]);
    expect(set.execute('b', data)).toBe('dch');
    expect(set.execute('d', data)).toBe('i');
  });
});
