import { describe, expect, it } from 'vitest';
import type { Chart } from '../chart/chart.ts';
import { loadFiles } from '../chart/load.ts';
import { renderChart } from '../render/render.ts';

type Files = Record<string, string>;

async function chart(files: Files): Promise<Chart> {
  return await loadFiles(Object.entries(files).map(([name, text]) => ({ name, data: Buffer.from(text) })));
}

async function valuesOf(files: Files, values: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  return (await renderChart(await chart(files), { values, release: { name: 'x' } })).values as Record<string, unknown>;
}

const metadata = (name: string, more = '') => `apiVersion: v2\nname: ${name}\nversion: 1.0.0\n${more}`;

describe('values', () => {
  it('drop nulls of the defaults and keep a null for a key nobody knows', async () => {
    const files = { 'Chart.yaml': metadata('top'), 'values.yaml': 'a: null\nb: {c: null, d: 1}\n' };
    expect(await valuesOf(files, { x: null })).toEqual({ b: { d: 1 }, x: null });
  });

  it('remove a default of a subchart where the user says null', async () => {
    const files = {
      'Chart.yaml': metadata('top'),
      'values.yaml': 'sub: {a: 5}\n',
      'charts/sub/Chart.yaml': metadata('sub'),
      'charts/sub/values.yaml': 'a: 1\nb: {c: 2, d: 3}\n',
    };
    expect(await valuesOf(files, { sub: { a: null, b: { c: null } } })).toEqual({
      sub: { b: { d: 3 }, global: {} },
    });
  });

  it('pass globals down, and the parent wins', async () => {
    const files = {
      'Chart.yaml': metadata('top'),
      'values.yaml': 'global: {a: top, t: {x: 1}}\n',
      'charts/sub/Chart.yaml': metadata('sub'),
      'charts/sub/values.yaml': 'global: {a: sub, b: sub, t: {x: 2, z: 3}}\n',
    };
    const { sub } = await valuesOf(files);
    expect(sub).toEqual({ global: { a: 'top', b: 'sub', t: { x: 1, z: 3 } } });
  });

  it('refuse a subchart whose values are no table', async () => {
    const files = { 'Chart.yaml': metadata('top'), 'charts/sub/Chart.yaml': metadata('sub') };
    await expect(valuesOf(files, { sub: 3 })).rejects.toThrow('type mismatch on sub');
  });
});

const parent = {
  'Chart.yaml': metadata(
    'top',
    'dependencies:\n- {name: sub, version: "1.x", condition: "sub.enabled,global.sub", tags: [back]}\n- {name: sub, version: "1.x", alias: other, tags: [front]}\n',
  ),
  'charts/sub/Chart.yaml': metadata('sub'),
  'charts/sub/templates/a.yaml': 'name: {{ .Chart.Name }}\nvalue: {{ .Values.value }}\n',
  'charts/sub/values.yaml': 'value: 1\n',
};

async function paths(values: Record<string, unknown>): Promise<string[]> {
  const { manifests } = await renderChart(await chart(parent), { values, release: { name: 'x' } });
  return manifests.map(({ path }) => path);
}

describe('dependencies', () => {
  const sub = 'top/charts/sub/templates/a.yaml';
  const other = 'top/charts/other/templates/a.yaml';

  it('take part by default, each under its alias', async () => {
    expect(await paths({})).toEqual([other, sub]);
    const { manifests } = await renderChart(await chart(parent), {
      values: { other: { value: 2 } },
      release: { name: 'x' },
    });
    expect(manifests.map(({ object }) => object())).toEqual([
      { name: 'other', value: 2 },
      { name: 'sub', value: 1 },
    ]);
  });

  it('are switched by tags, and by a condition over them', async () => {
    expect(await paths({ tags: { back: false } })).toEqual([other]);
    expect(await paths({ tags: { back: false, front: false }, sub: { enabled: true } })).toEqual([sub]);
    expect(await paths({ global: { sub: false } })).toEqual([other]);
  });

  it('give their parent what it imports, below its own values', async () => {
    const files = {
      'Chart.yaml': metadata(
        'top',
        'dependencies:\n- name: sub\n  version: 1.0.0\n  import-values: [data, {child: deep.er, parent: here}]\n',
      ),
      'values.yaml': 'mine: kept\n',
      'charts/sub/Chart.yaml': metadata('sub'),
      'charts/sub/values.yaml': 'exports: {data: {mine: lost, theirs: got}}\ndeep: {er: {x: 1}}\n',
    };
    expect(await valuesOf(files)).toMatchObject({ mine: 'kept', theirs: 'got', here: { x: 1 } });
  });

  it.each([
    ['is not there', '', ['leaf', 'extra']],
    ['is empty', 'dependencies: []\n', ['alias']],
    ['names the chart', 'dependencies: [{name: mid, version: "*"}]\n', ['alias']],
  ])(
    'of a chart in charts/ know its aliases and conditions unless the list of its parent %s',
    async (_, list, names) => {
      const [imports, condition] = ['import-values: [{child: e, parent: i}]', 'condition: use'];
      const requirements = `[{name: leaf, version: "*", alias: alias, ${imports}}, {name: extra, version: "*", ${condition}}]`;
      const files = {
        'Chart.yaml': metadata('top', list),
        'charts/mid/Chart.yaml': metadata('mid', `dependencies: ${requirements}\n`),
        'charts/mid/values.yaml': 'use: false\n',
        'charts/mid/templates/NOTES.txt': '{{ range .Chart.Dependencies }}{{ .Name }} {{ .Enabled }} {{ end }}',
        'charts/mid/charts/leaf/Chart.yaml': metadata('leaf'),
        'charts/mid/charts/leaf/values.yaml': 'e: {said: 1}\n',
        'charts/mid/charts/extra/Chart.yaml': metadata('extra'),
      };
      const { notes, values } = await renderChart(await chart(files), { release: { name: 'x' }, subNotes: true });
      const isSettled = list !== '';
      expect(notes).toBe(names.map((name) => `${name} ${isSettled} `).join(''));
      const mid = values['mid'] as Record<string, unknown>;
      expect(mid['i']).toEqual({ said: 1 });
      expect(Object.keys(mid)).toEqual(expect.arrayContaining(names));
      expect('extra' in mid).toBe(!isSettled);
    },
  );
});
