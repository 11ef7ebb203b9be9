import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ChartError } from './chart-error.ts';
import { loadChart, loadFiles, readValuesText } from './load.ts';
import { toPlain } from '../go/values.ts';

const chartYaml = 'apiVersion: v2\nname: web\nversion: 1.0.0\n';

interface Entry {
  readonly name: string;
  readonly text?: string;
  readonly type?: string;
}

/** A tar of one's own, to hold what no good program writes. */
function tar(entries: readonly Entry[]): Uint8Array {
  const blocks = entries.flatMap(({ name, text = '', type = '0' }) => {
    const data = Buffer.from(text);
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write('0000644\0', 100);
    header.write(`${data.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('        ', 148);
    header.write(type, 156);
    header.write('ustar\u000000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, data, Buffer.alloc((512 - (data.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

async function codeOf(loading: Promise<unknown>): Promise<string> {
  const error = await loading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ChartError);
  return (error as ChartError).code;
}

describe('a chart archive', () => {
  it('is read, subcharts and their archives included', async () => {
    const inner = tar([{ name: 'sub/Chart.yaml', text: chartYaml.replace('web', 'sub') }]);
    const files = [
      { name: 'Chart.yaml', data: Buffer.from(chartYaml) },
      { name: 'charts/sub-1.0.0.tgz', data: gzipSync(inner) },
      { name: 'charts/_ignored/x', data: Buffer.from('') },
      { name: 'charts/plain/Chart.yaml', data: Buffer.from(chartYaml.replace('web', 'plain')) },
    ];
    const chart = await loadFiles(files);
    expect(chart.dependencies.map(({ metadata }) => metadata.name)).toEqual(['plain', 'sub']);
    const archived = await loadChart(
      gzipSync(
        tar([
          { name: 'web/Chart.yaml', text: chartYaml },
          { name: 'web/values.yaml', text: 'a: 1' },
        ]),
      ),
    );
    expect(archived.values).toEqual(new Map([['a', 1]]));
  });

  it.each([
    ['a path that climbs out', 'web/../../etc/passwd'],
    ['a path from the root', '/etc/passwd'],
    ['a path with backslashes', 'web\\..\\..\\x'],
    ['a drive', 'C:/x/y'],
    ['nothing below its folder', 'passwd'],
    ['a path from the root inside its folder', 'web//etc/passwd'],
    ['a name that begins as the way up does', 'web/..data'],
  ])('is refused for %s', async (_what, name) => {
    expect(await codeOf(loadChart(gzipSync(tar([{ name: 'web/Chart.yaml', text: chartYaml }, { name }]))))).toBe(
      'UnsafeArchive',
    );
  });

  it('may go up and down inside its folder', async () => {
    const entries = [
      { name: 'web/Chart.yaml', text: chartYaml },
      { name: 'web/./a/../b.txt', text: 'x' },
    ];
    expect((await loadChart(gzipSync(tar(entries)))).files.map(({ name }) => name)).toEqual(['b.txt']);
  });

  it('is refused when it ends within a header', async () => {
    const whole = tar([{ name: 'web/Chart.yaml', text: chartYaml }, { name: 'web/a' }]);
    expect(await codeOf(loadChart(gzipSync(whole.subarray(0, 1024 + 300))))).toBe('InvalidChart');
  });

  it.each(['1', '2', '3'])('is refused for a link or device (type %s)', async (type) => {
    expect(
      await codeOf(
        loadChart(
          gzipSync(
            tar([
              { name: 'web/Chart.yaml', text: chartYaml },
              { name: 'web/x', type },
            ]),
          ),
        ),
      ),
    ).toBe('UnsafeArchive');
  });

  it('is refused when it unpacks to more than a chart may have', async () => {
    expect(await codeOf(loadChart(gzipSync(Buffer.alloc(101 * 1024 * 1024))))).toBe('UnsafeArchive');
    const large = { name: 'web/large', text: 'x'.repeat(6 * 1024 * 1024) };
    expect(await codeOf(loadChart(gzipSync(tar([{ name: 'web/Chart.yaml', text: chartYaml }, large]))))).toBe(
      'UnsafeArchive',
    );
  });

  it('that is garbage is an error a person can read, never anything else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), fc.boolean(), async (bytes, zipped) => {
        expect(await codeOf(loadChart(zipped ? gzipSync(bytes) : bytes))).toMatch(/InvalidChart|UnsafeArchive/);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a chart folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slipway-chart-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };

  it('leaves out what .helmignore names', async () => {
    await write('web/Chart.yaml', chartYaml);
    await write('web/.helmignore', '# no\n*.bak\n/docs/\nci\n');
    for (const path of ['a.bak', 'docs/x.md', 'deep/docs/y.md', 'ci/v.yaml', 'templates/.hidden', 'templates/a.yaml'])
      await write(`web/${path}`, '');
    const chart = await loadChart(join(folder, 'web'));
    expect(chart.raw.map(({ name }) => name)).toEqual([
      '.helmignore',
      'Chart.yaml',
      'deep/docs/y.md',
      'templates/a.yaml',
    ]);
  });

  it('follows links inside and refuses one that leads out', async () => {
    await write('web/Chart.yaml', chartYaml);
    await write('web/files/a.txt', 'inside');
    await write('secret.txt', 'outside');
    await symlink('files/a.txt', join(folder, 'web', 'b.txt'));
    expect((await loadChart(join(folder, 'web'))).files.map(({ name }) => name)).toEqual(['b.txt', 'files/a.txt']);
    await symlink('../secret.txt', join(folder, 'web', 'c.txt'));
    expect(await codeOf(loadChart(join(folder, 'web')))).toBe('UnsafeArchive');
  });

  it.each([
    ['to nothing', 'absent'],
    ['to itself', 'link'],
  ])('names a link %s', async (_, to) => {
    await write('web/Chart.yaml', chartYaml);
    await symlink(to, join(folder, 'web', 'link'));
    await expect(loadChart(join(folder, 'web'))).rejects.toMatchObject({
      code: 'InvalidChart',
      message: expect.stringMatching(/^error evaluating symlink link: it leads nowhere/) as string,
    });
  });

  it('refuses a link to a folder above it instead of walking for ever', async () => {
    await write('web/Chart.yaml', chartYaml);
    await symlink('.', join(folder, 'web', 'again'));
    expect(await codeOf(loadChart(join(folder, 'web')))).toBe('UnsafeArchive');
  });

  it.each([
    ['1.16', '1.16'],
    ['1.10', '1.1'],
    ['16', '16'],
    ['010', '8'],
    ['1_000', '1000'],
    ['1e6', '1e+06'],
    ['12345678901234567890', '12345678901234567890'],
    ['yes', 'true'],
    ['.inf', '+Inf'],
    ['2020-01-02', '2020-01-02'],
    ['~', ''],
  ])('may have %s unquoted where a text is wanted, and says %s then', async (written, read) => {
    await write('web/Chart.yaml', `name: 12\nversion: 1.0.0\nappVersion: ${written}\nkeywords: [${written}]\n`);
    const { metadata } = await loadChart(join(folder, 'web'));
    expect(metadata).toMatchObject({ name: '12', appVersion: read, keywords: [read] });
  });

  it.each([
    ['', 'name is required'],
    ['name: a/b\nversion: 1.0.0', 'is invalid'],
    ['name: a\nversion: nope', 'version "nope" is invalid'],
    ['name: a\nversion: 1.0.0\ntype: other', 'must be application or library'],
    ['name: [3]\nversion: 1.0.0', 'cannot unmarshal'],
    ['name: a\nversion: 1e6', 'version "1e+06" is invalid'],
    ['a: [', 'cannot load Chart.yaml'],
    ['name: a\nversion: 1.0.0\ndependencies: [{name: x}, {name: x}]', 'more than one dependency'],
    ['name: a\nversion: 1.0.0\ndependencies: [{name: x, alias: y.z}]', 'disallowed characters in the alias'],
    ['- a', 'cannot unmarshal array into Go value of type v2.Metadata'],
    ['name: a\nversion: 1.0.0\nmaintainers: [~]', 'maintainers must not contain empty or null nodes'],
    ['name: a\nversion: 1.0.0\ndependencies: [{name: x}, ~]', 'dependencies must not contain empty or null nodes'],
    [
      'name: a\nversion: 1.0.0\nmaintainers: [{name: {a: b}}]',
      'cannot unmarshal object into Go struct field Maintainer.maintainers.name of type string',
    ],
    [
      'name: a\nversion: 1.0.0\ndependencies: [{name: x, import-values: data}]',
      'cannot unmarshal string into Go struct field Dependency.dependencies.import-values of type []interface {}',
    ],
  ])('is refused for a Chart.yaml of %j', async (text, message) => {
    await write('web/Chart.yaml', text);
    await expect(loadChart(join(folder, 'web'))).rejects.toThrow(message);
  });

  it('takes fields of Chart.yaml however they are capitalised, the last in order of those that are there twice', async () => {
    await write(
      'web/Chart.yaml',
      'APIVersion: v2\nNAME: other\nname: web\nVersion: 1.0.0\nappversion: 1.10\nkeywords: ~\n',
    );
    const { metadata } = await loadChart(join(folder, 'web'));
    expect(metadata).toMatchObject({
      apiVersion: 'v2',
      name: 'web',
      version: '1.0.0',
      appVersion: '1.1',
      keywords: [],
    });
  });

  it.each([
    ['requirements.yaml', '- a', 'cannot load requirements.yaml'],
    ['Chart.lock', 'generated: yesterday', 'cannot load Chart.lock'],
    ['requirements.lock', 'dependencies: none', 'cannot load requirements.lock'],
    ['values.yaml', 'a: 1\n--- b: 2\n', 'invalid Yaml document separator: b: 2'],
    ['charts/a.tgz/Chart.yaml', chartYaml, 'expected a.tgz, got a.tgz/Chart.yaml'],
  ])('is refused for a %s of %j', async (path, text, message) => {
    await write('web/Chart.yaml', chartYaml);
    await write(`web/${path}`, text);
    await expect(loadChart(join(folder, 'web'))).rejects.toThrow(message);
  });

  it('may have a comment where documents of values part', async () => {
    await write('web/Chart.yaml', chartYaml);
    await write('web/values.yaml', 'a: 1\r\n---# two\r\nb: 2\n--- # three\na: 3');
    expect((await loadChart(join(folder, 'web'))).values).toEqual(
      new Map([
        ['a', 3],
        ['b', 2],
      ]),
    );
  });
});

describe('documents of values', () => {
  it.each([
    ['end at a line of three dashes', 'a: 1\n---\nb: 2\n--- # c\na: 3', { a: 3, b: 2 }],
    ['begin with one, or several', '---\n---\n\n---\na: 1', { a: 1 }],
    ['end where a line of a block does, which is part of no document', 'a: |\n  b\n---\nc: d', { a: 'b\n', c: 'd' }],
    ['are as many as there are lines, whatever else ends one', 'a: "b\u2028----"', { a: 'b\u2028----' }],
    ['have lines of any system', 'a: |\r\n  b\r\n---\r\nc: d', { a: 'b\n', c: 'd' }],
  ])('%s', (_sentence, text, expected) => {
    expect(toPlain(readValuesText(text))).toEqual(expected);
  });

  it.each([
    ['a: 1\n--- b: 2\n', 'error reading yaml document: invalid Yaml document separator: b: 2'],
    ['a: 1\n----\nb: 2', 'error reading yaml document: invalid Yaml document separator: -'],
    [
      'a: 1\n---\n- b',
      'cannot unmarshal yaml document: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
    [
      'a: 1\n  b: 2',
      'cannot unmarshal yaml document: error converting YAML to JSON: yaml: line 2: mapping values are not allowed in this context',
    ],
  ])('are refused in the words of Helm: %j', (text, message) => {
    expect(() => readValuesText(text)).toThrow(message);
  });
});
