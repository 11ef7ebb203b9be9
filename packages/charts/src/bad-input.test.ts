import { mkdir, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { ChartError } from './chart/chart-error.ts';
import { longestErrorText } from './chart/error-text.ts';
import { compileGlob } from './chart/glob.ts';
import { loadChart, loadFiles, readValuesText } from './chart/load.ts';
import { shellPattern } from './chart/shell-pattern.ts';
import { writeTar } from './chart/tar.ts';
import { loadHelmfile } from './helmfile/helmfile.ts';
import { collectValues } from './values/value-options.ts';
import { readValuesFile } from './values/read-values-file.ts';
import { renderChart } from './render/render.ts';
import { schemaComplaints } from './render/schema.ts';
import { fromPlain, type GoMap } from './go/values.ts';
import { parseSet } from './values/set.ts';
import { readYaml } from './yaml/read.ts';

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
    [
      'copies a long list again and again',
      `{{ $l := until 100000 }}${nearlyAllSteps}{{ range until 9 }}{{ $_ := rest $l }}{{ end }}`,
    ],
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

  it('stops when it matches patterns of many stars with many files, and reads large files again and again', async () => {
    const long = Array.from({ length: 200 }, (_, i) => ({ name: 'a'.repeat(200) + i, data: Buffer.from([255, i]) }));
    const large = { name: 'large', data: Buffer.alloc(5_000_000) };
    const glob = `$.Files.Glob "{${'*a'.repeat(60)}b,${'**a'.repeat(60)}c}"`;
    for (const call of [glob, '$.Files.Lines "large"', '$.Files.AsConfig', '$.Files.AsSecrets']) {
      const template = `${nearlyAllSteps}{{ range until 100 }}{{ $_ := ${call} }}{{ end }}`;
      const files = { 'Chart.yaml': 'apiVersion: v2\nname: bad\nversion: 1.0.0\n', 'templates/NOTES.txt': template };
      const own = Object.entries(files).map(([name, text]) => ({ name, data: Buffer.from(text) }));
      const chart = await loadFiles([...own, ...long, large]);
      await expect(renderChart(chart, { release: { name: 'x' } })).rejects.toThrow(/take more than 5000000 steps/);
    }
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

  it('is not read for values when it is a device, which says nothing of its size', async () => {
    await expect(readValuesFile('/dev/zero', '/dev/zero')).rejects.toMatchObject({
      code: 'InvalidValues',
      message: expect.stringContaining('/dev/zero has') as string,
    });
  });

  it('is not read for a state', async () => {
    await sparse('helmfile.yaml');
    await expect(loadHelmfile({ cwd: folder })).rejects.toThrow(/helmfile\.yaml has 104857600 bytes/);
  });
});

const chartYaml = 'apiVersion: v2\nname: bad\nversion: 1.0.0\n';

describe('an archive that means harm is refused', () => {
  interface Entry {
    readonly name: string;
    readonly data?: string | Uint8Array;
    readonly type?: string;
    readonly size?: number;
  }

  /** An entry as its author wants it: of any type, and of a size that need not be that of its data. */
  function entry({ name, data = '', type = '0', size }: Entry): Buffer {
    const bytes = Buffer.from(data);
    const block = writeTar([{ name, data: bytes }]).subarray(0, -1024);
    block.write(type, 156);
    if (size !== undefined) block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
    block.write('        ', 148);
    const sum = block.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return block;
  }

  const pax = (records: string): Entry => ({ name: 'PaxHeader', data: records, type: 'x' });

  function archive(...entries: readonly Entry[]): Buffer {
    const all = [{ name: 'bad/Chart.yaml', data: chartYaml }, ...entries];
    return gzipSync(Buffer.concat([...all.map(entry), Buffer.alloc(1024)]));
  }

  const file: Entry = { name: 'bad/x', data: 'hello' };
  it.each<[string, readonly Entry[], string]>([
    ['millions of pax records', [pax('6 a=b\n'.repeat(200_000)), file], 'a header has 1200000 bytes'],
    ['a pax record longer than its header', [pax('9999 path=bad/y\n'), file], 'a pax header is damaged'],
    ['a pax record without a name', [pax('7 abcd\n'), file], 'a pax header is damaged'],
    ['a size nobody writes that way', [pax('12 size=1e3\n'), file], 'it ends too early'],
    ['a path that leads out by a pax header', [pax('20 path=bad/../../x\n'), file], 'references parent directory'],
    ['a name longer than any path', [{ name: 'L', data: `bad/${'a/'.repeat(5000)}x`, type: 'L' }, file], 'a name has'],
    ['a link that is called a folder', [{ name: 'bad/templates/', type: '2' }], 'holds a link: bad/templates/'],
    ['a hard link', [{ name: 'bad/x', type: '1' }], 'holds a link: bad/x'],
    ['a device', [{ name: 'bad/x', type: '3' }], 'holds a link: bad/x'],
  ])('for %s', async (_, entries, message) => {
    await expect(loadChart(archive(...entries))).rejects.toThrow(message);
  });

  it('for archives in it that unpack without end', async () => {
    const bomb = archive(
      ...Array.from({ length: 16 }, (_, i) => ({ name: `bad/z${i}`, data: Buffer.alloc(4_900_000) })),
    );
    const bombs = Array.from({ length: 40 }, (_, i) => ({ name: `bad/charts/b${i}.tgz`, data: bomb }));
    await expect(loadChart(archive(...bombs))).rejects.toMatchObject({
      code: 'UnsafeArchive',
      message: expect.stringContaining('the chart and the charts in it have more than 268435456 bytes') as string,
    });
  });

  it('but what is in it twice counts as it was written last, and a folder hides nothing behind its size', async () => {
    const chart = await loadChart(
      archive(
        { name: 'bad/values.yaml', data: 'a: 1\n' },
        { name: 'bad/values.yaml', data: 'a: 2\n' },
        { name: 'bad/d/', type: '5', size: 1024 },
        { name: 'bad/hidden', data: 'x' },
      ),
    );
    expect(chart.values).toEqual(new Map([['a', 2]]));
    expect(chart.raw.map(({ name }) => name)).toEqual(['Chart.yaml', 'values.yaml', 'hidden']);
  });
});

describe.skipIf(process.platform === 'win32')('a folder that means harm is refused', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slipway-hostile-'));
    await writeFile(join(folder, 'Chart.yaml'), chartYaml);
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  it('for rules that are a link to a device, or to a file outside, of which nothing is said', async () => {
    await symlink('/dev/zero', join(folder, '.helmignore'));
    await expect(loadChart(folder)).rejects.toThrow('.helmignore is a link that leads outside the chart');
    await rm(join(folder, '.helmignore'));
    const secret = `${folder}-secret`;
    await writeFile(secret, 'hunter2[\n');
    await symlink(secret, join(folder, '.helmignore'));
    const error = await loadChart(folder).catch((thrown: unknown) => String(thrown));
    await rm(secret);
    expect(error).toContain('.helmignore is a link that leads outside the chart');
    expect(error).not.toContain('hunter2');
  });

  it('for more rules than there is time for', async () => {
    await writeFile(join(folder, '.helmignore'), `${'*a'.repeat(60)}b\n`.repeat(200));
    for (let i = 0; i < 20; i += 1) await writeFile(join(folder, `${'a'.repeat(200)}${i}`), '');
    await expect(loadChart(folder)).rejects.toThrow('.helmignore has too many rules for so many files');
  });

  it('for links to folders of links, which stand for more folders than there are', async () => {
    for (let i = 0; i < 40; i += 1) {
      await mkdir(join(folder, `d${i}`));
      for (const name of ['x', 'y']) await symlink(`../d${i + 1}`, join(folder, `d${i}`, name));
    }
    await mkdir(join(folder, 'd40'));
    await expect(loadChart(folder)).rejects.toMatchObject({ code: 'UnsafeArchive' });
  });

  it('for files that are small on the disk only', async () => {
    await using file = await open(join(folder, 'large'), 'w');
    await file.truncate(5 * 1024 * 1024);
    for (let i = 0; i < 60; i += 1) await symlink('large', join(folder, `link-${i}`));
    await expect(loadChart(folder)).rejects.toThrow('have more than 268435456 bytes');
  });

  it('when it is a device instead', async () => {
    await expect(loadChart('/dev/zero')).rejects.toThrow('/dev/zero is no regular file');
  });
});

describe('a pattern', () => {
  const stars = `${'*a'.repeat(60)}b`;
  it('of many stars ends', () => {
    expect(shellPattern(stars)?.('a'.repeat(250))).toBe(false);
    expect(compileGlob(`{${stars},x}`)('a'.repeat(250))).toBe(false);
  });

  it.each([
    ['*.tgz', 'a.tgz', true],
    ['*.tgz', 'a/b.tgz', false],
    ['a?[b-d]', 'axc', true],
    ['a?[^b-d]', 'axc', false],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['', '', true],
    ['[\\]q]', ']', true],
    ['a[^x]b', 'a/b', true],
    ['[z-a]', 'a', false],
    ['[a-c-e]', 'b', undefined],
    ['[]a]', 'a', undefined],
    ['[a-]', 'a', undefined],
  ])('means what it means to a shell: %s and %s', (pattern, path, expected) => {
    expect(shellPattern(pattern)?.(path)).toBe(expected);
  });

  it.each([
    ['**.yaml', 'a/b.yaml', true],
    ['a/{b,c/{d,e}}/*', 'a/c/e/f', true],
    ['a/{b,c/{d,e}}/*', 'a/c/f/f', false],
    ['[!a-c]x', 'dx', true],
    ['a{,b}c', 'ac', true],
    ['{open', 'open', true],
    ['{open', 'anything', false],
    ['[open', 'anything', true],
    ['[a-z0-9]', 'anything', true],
    ['[az-]', '-', true],
    ['[abc-e]', 'd', false],
    ['[\\]]', ']', true],
    ['a\\', 'a', true],
  ])('of files means what it means to Helm: %s and %s', (pattern, path, expected) => {
    expect(compileGlob(pattern)(path)).toBe(expected);
  });
});

describe('YAML that means harm ends with an error', () => {
  const bigMap = `b: &b {${Array.from({ length: 5000 }, (_, i) => `k${i}: ${i}`).join(', ')}}\n`;
  /** A bracket that closes in the column of a key. */
  const oddity = '\nzz: [1,\n]\n';
  let laughs = 'a0: &a0 lol\n';
  for (let i = 1; i < 12; i += 1)
    laughs += `a${i}: &a${i} [${Array(10)
      .fill(`*a${i - 1}`)
      .join(', ')}]\n`;

  it.each([
    ['merges a large map again and again', `${bigMap}l:\n${'- <<: *b\n'.repeat(20_000)}`, 'excessive aliasing'],
    ['merges one list of the same', `${bigMap}l:\n  <<: [${'*b, '.repeat(50_000)}*b]\n`, 'excessive aliasing'],
    ['laughs a billion times', laughs, 'excessive aliasing'],
    ['holds itself', 'a: &a [*a]\n', 'contains itself'],
    ['holds itself in a map', 'a: &a {b: {c: *a}}\n', 'contains itself'],
    ['nests without end', `a: ${'['.repeat(1_000_000)}`, 'exceeded max depth'],
    ['never closes a quote', `a: "${'b\n'.repeat(200_000)}`, 'line 200001: found unexpected end of stream'],
    ['is large and not plain', `a: &a 1\n${'# \n'.repeat(3_000_000)}`, 'characters that are not all plain'],
  ])('when it %s', (_, text, message) => {
    expect(() => readYaml(text)).toThrow(message);
  });

  it('and is read when it only looks so', () => {
    expect(readYaml(`a: &a x\nl:\n${'- *a\n'.repeat(10_000)}${oddity}`)).toBeInstanceOf(Map);
    expect(readYaml(`${`${' '.repeat(30)}\n`.repeat(3000)}x\n---\n`)).toBe('x');
    expect(readYaml('# comment\n%YAML 1.1\n---\na: 1\n---\nb: 1\n')).toEqual(new Map([['a', 1]]));
  });

  it('has any number of documents of values', () => {
    const first = Array.from({ length: 20_000 }, (_, i) => `k${i}: 1\n`).join('');
    expect(readValuesText(`${first}${'---\nb: 1\n'.repeat(20_000)}`).size).toBe(20_001);
  });
});

describe('a schema that means harm', () => {
  const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
  const refs = (make: (next: { $ref: string }) => object) => ({
    $defs: Object.fromEntries(many(60, (i) => [`d${i}`, make({ $ref: `#/$defs/d${i + 1}` })]).concat([['d60', {}]])),
    $ref: '#/$defs/d0',
  });
  const hard = `${'a'.repeat(5000)}!`;
  const tooLong = 'it takes longer than 0.05 seconds';

  it.each<[string, object, Record<string, unknown>, string]>([
    ['has a pattern that backtracks', { properties: { a: { pattern: '^(a+)+$' } } }, { a: hard }, tooLong],
    ['has one for names', { patternProperties: { '^(a+)+$': false } }, { [hard]: 1 }, tooLong],
    ['doubles with every reference', refs((next) => ({ allOf: [next, next] })), {}, tooLong],
    ['compares everything', { properties: { a: { uniqueItems: true } } }, { a: many(20_000, (x) => ({ x })) }, tooLong],
    ['is itself', { $ref: '#' }, {}, 'it nests too deeply, or refers to itself'],
  ])('is stopped when it %s', (_, schema, values, why) => {
    // What ends by itself gets the time it takes.
    const mostMs = why === tooLong ? 50 : undefined;
    const refused = () => schemaComplaints(Buffer.from(JSON.stringify(schema)), fromPlain(values) as GoMap, mostMs);
    expect(refused).toThrow(ChartError);
    expect(refused).toThrow(`values.schema.json cannot be used: ${why}`);
  });
});

describe('a --set that means harm', () => {
  it.each([
    ['lists in lists', `a${'[0]'.repeat(100_000)}=1`, 'lists are nested in more than 1000 levels'],
    ['lists in tables in lists', `a${'[0].b'.repeat(100_000)}=1`, 'lists are nested in more than 1000 levels'],
    [
      'thousands of long lists',
      Array.from({ length: 3000 }, (_, i) => `a${i}[65535]=1`).join(),
      'the lists have too many items',
    ],
  ])('is refused for %s', (_, text, why) => {
    const refused = () => parseSet(text, new Map());
    expect(refused).toThrow(ChartError);
    expect(refused).toThrow(why);
  });

  it('is refused for long lists in many of its kind', async () => {
    const set = Array.from({ length: 20 }, (_, i) => `a${i}[65535]=1`);
    const collecting = collectValues({ set: set.slice(10), setString: set.slice(0, 10) }, async () => '');
    await expect(collecting).rejects.toMatchObject({ code: 'InvalidValues' });
  });

  it('reads JSON in linear time, right or wrong', () => {
    const commas = '1,'.repeat(50_000);
    expect(() => parseSet(`a=[${commas}1`, new Map(), 'json')).toThrow('is no JSON');
    const values = parseSet(`a=[${commas}1],b={"c,]":[1]} ,d=,e="\\",f"`, new Map(), 'json');
    expect(values.get('a')).toHaveLength(50_001);
    values.delete('a');
    expect(values).toEqual(
      new Map<string, unknown>([
        ['b', new Map([['c,]', [1]]])],
        ['d', null],
        ['e', '",f'],
      ]),
    );
  });
});

it('an error says nothing that a terminal obeys', () => {
  const { message } = new ChartError('InvalidChart', 'templates/\u001b]0;owned\u0007\u009b2J\rx\u202e.yaml:\n\tno\r\n');
  expect(message).toBe('templates/\\u001b]0;owned\\u0007\\u009b2J\\u000dx\\u202e.yaml:\n\tno\r\n');
});
