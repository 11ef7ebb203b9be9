import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { ChartError } from './chart/chart-error.ts';
import { longestErrorText } from './chart/error-text.ts';
import { loadFiles } from './chart/load.ts';
import { loadHelmfile } from './helmfile/helmfile.ts';
import { collectValues } from './values/value-options.ts';
import { readValuesFile } from './values/read-values-file.ts';
import { renderChart } from './render/render.ts';

async function render(template: string, values: Record<string, unknown> = {}): Promise<string> {
  const files = { 'Chart.yaml': 'apiVersion: v2\nname: bad\nversion: 1.0.0\n', 'templates/NOTES.txt': template };
  const chart = await loadFiles(Object.entries(files).map(([name, text]) => ({ name, data: Buffer.from(text) })));
  return (await renderChart(chart, { release: { name: 'x' }, values })).notes;
}

const twice = (call: string) => `{{ $s := "aaaaaaaa" }}{{ range until 60 }}{{ $s = ${call} }}{{ end }}{{ len $s }}`;

/** What is left shows what the next call costs without taking that long. */
const nearlyAllSteps = '{{ range 4990000 }}{{ end }}';

/** Sixty maps that stand for 2^60 values. */
const shared = '{{ $d := dict }}{{ range until 60 }}{{ $d = dict "a" $d "b" $d }}{{ end }}';

describe('a template that means harm ends with an error that says where', () => {
  it.each([
    ['includes itself', '{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}'],
    ['calls itself', '{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}'],
    ['evaluates itself', '{{ $d := dict }}{{ $_ := set $d "t" "{{ tpl .t . }}" }}{{ tpl $d.t $d }}'],
    [
      'doubles with every call',
      '{{ define "x" }}{{ if lt (len .) 60 }}{{ include "x" (append . 1) }}{{ include "x" (append . 1) }}{{ end }}{{ end }}{{ include "x" list }}',
    ],
    ['loops in loops', '{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}'],
    ['counts too far', '{{ range until 1000000000 }}{{ end }}'],
    ['repeats a text too often', '{{ repeat 1000000000 "abc" }}'],
    ['doubles a text', twice('printf "%s%s" $s $s')],
    ['doubles a text with cat', twice('cat $s $s')],
    ['doubles a list', '{{ $l := list 1 }}{{ range until 60 }}{{ $l = concat $l $l }}{{ end }}'],
    ['joins what is long with what is long', '{{ join (repeat 10000 "a") (until 100000) }}'],
    ['prints a circle', '{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ printf "%v" $d }}'],
    ['copies a circle', '{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ deepCopy $d | len }}'],
    ['makes a long text longer', '{{ b64enc (repeat 16000000 "a") }}'],
    ['writes what shares its parts', `${shared}{{ toYaml $d }}`],
    ['writes JSON of what shares its parts', `${shared}{{ toJson $d }}`],
    ['prints what shares its parts', `${shared}{{ $d }}`],
    ['formats what shares its parts', `${shared}{{ printf "%v" $d }}`],
    ['copies what shares its parts', `${shared}{{ deepCopy $d | len }}`],
    ['compares what shares its parts', `${shared}{{ deepEqual $d (dict "a" $d "b" $d) }}`],
    [
      'writes what is twice in itself',
      '{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ $_ := set $d "b" $d }}{{ toJson $d }}',
    ],
    ['makes password hashes without end', '{{ range 4990000 }}{{ end }}{{ bcrypt "a" }}'],
    ['looks for everything in everything', '{{ $l := until 30000 }}{{ range $l }}{{ has -1 $l }}{{ end }}'],
    ['mixes a long text', `${nearlyAllSteps}{{ shuffle (repeat 20000 "a") | len }}`],
    [
      'reads a long text again and again',
      `${nearlyAllSteps}{{ range until 9 }}{{ upper (repeat 100000 "a") }}{{ end }}`,
    ],
    ['finds a letter everywhere', `${nearlyAllSteps}{{ regexFindAll "a" (repeat 20000 "a") -1 | len }}`],
    ['tries a large expression everywhere', `${nearlyAllSteps}{{ regexMatch "(x?){900}y" (repeat 2000 "x") }}`],
    ['asks for a regular expression that grows', '{{ regexReplaceAll "(x{1000}){1000}" "x" "y" }}'],
    ['nests parentheses', `{{ ${'('.repeat(100_000)}1${')'.repeat(100_000)} }}`],
    ['holds a range of ten thousand versions', '{{ semverCompare (repeat 10000 ">1 ") "1.2.3" }}'],
  ])('%s', { timeout: 60_000 }, async (_, template) => {
    const error = await render(template).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ChartError);
    expect((error as Error).message).toMatch(/bad\/templates\/NOTES\.txt:1/);
  });

  it.each([
    [
      'says megabytes',
      '{{ fail (repeat 4000000 "ab ") }}',
      /^execution error at \(bad\/templates\/NOTES\.txt:1:3\): ab ab /,
    ],
    ['is called with megabytes', '{{ atoi 1 (repeat 4000000 "ab ") }}', /NOTES\.txt:1/],
    ['evaluates megabytes', '{{ tpl (cat (repeat 4000000 "ab ") "{{ nothing }}") . }}', /NOTES\.txt:1/],
  ])('what it says fits into a terminal and a status when it %s', async (_, template, place) => {
    const { message } = (await render(template).catch((thrown: unknown) => thrown)) as Error;
    expect(message).toMatch(place);
    expect(message.length).toBeLessThan(longestErrorText + 100);
  });

  it('leaves out what is there twice in linear time', async () => {
    expect(await render('{{ uniq (concat (until 100000) (until 100000)) | len }}')).toBe('100000');
    expect(await render('{{ uniq (list 1 1.0 "1" true nil nil (list 1) (list 1) (dict) (dict)) | toJson }}')).toBe(
      '[1,1,"1",true,null,[1],{}]',
    );
  });

  it('matches regular expressions in linear time', async () => {
    const text = `${'a'.repeat(20_000)}b`;
    expect(await render('{{ regexMatch "^(a+)+$" .Values.text }}', { text })).toBe('false');
    expect(await render('{{ regexFindAll "(.*)(.*)(.*)[0-9]$" .Values.text -1 | len }}', { text })).toBe('0');
  });

  it('takes bytes that are no text for what they are', async () => {
    expect(await render('\u0000\u0001{{ 1 }}')).toBe('\u0000\u00011');
  });
});

describe('a file that is far too large', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slipway-large-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  /** Without a byte on the disk. */
  async function sparse(name: string): Promise<string> {
    await using file = await open(join(folder, name), 'w');
    await file.truncate(100 * 1024 * 1024);
    return join(folder, name);
  }

  it('is not read for values', async () => {
    const path = await sparse('values.yaml');
    const reading = collectValues({ files: [path] }, async (file) => await readValuesFile(file, 'values.yaml'));
    await expect(reading).rejects.toMatchObject({
      code: 'InvalidValues',
      message: expect.stringContaining('values.yaml has 104857600 bytes') as string,
    });
  });

  it('is not read for a state', async () => {
    await sparse('helmfile.yaml');
    await expect(loadHelmfile({ cwd: folder })).rejects.toThrow(/helmfile\.yaml has 104857600 bytes/);
  });
});
