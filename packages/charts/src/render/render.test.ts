import { describe, expect, it } from 'vitest';
import { loadFiles } from '../chart/load.ts';
import type { ChartError } from '../chart/chart-error.ts';
import { renderChart } from './render.ts';

function files(entries: Record<string, string>) {
  return Object.entries(entries).map(([name, text]) => ({ name, data: Buffer.from(text) }));
}

const web = {
  'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\nappVersion: "2"\n',
  'values.yaml': 'replicas: 1\nimage: {repository: nginx, tag: ""}\n',
  'templates/_helpers.tpl': '{{ define "web.name" }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}',
  'templates/deployment.yaml': [
    'apiVersion: apps/v1',
    'kind: Deployment',
    'metadata:',
    '  name: {{ include "web.name" . }}',
    'spec:',
    '  replicas: {{ .Values.replicas }}',
    '  image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"',
  ].join('\n'),
  'templates/service.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\n',
  'templates/NOTES.txt': 'Hello {{ .Release.Name }}.',
};

describe('renderChart', () => {
  it('renders a chart with its defaults, in the order of kinds', async () => {
    const rendered = await renderChart(await loadFiles(files(web)), { release: { name: 'shop' } });
    expect(rendered.manifests.map(({ kind }) => kind)).toEqual(['Service', 'Deployment']);
    expect(rendered.manifests[1]!.object()).toMatchObject({
      metadata: { name: 'shop-web' },
      spec: { replicas: 1, image: 'nginx:2' },
    });
    expect(rendered.notes).toBe('Hello shop.');
  });

  it('gives a subchart with a dot in its name no values: Helm looks for them at a path', async () => {
    const chart = await loadFiles(
      files({
        'Chart.yaml': web['Chart.yaml'],
        'charts/a/Chart.yaml': 'apiVersion: v2\nname: a.b\nversion: 1.0.0\n',
        'charts/a/values.yaml': 'c: 1\n',
        'charts/a/templates/x.yaml': 'values: {{ toJson .Values }}',
      }),
    );
    const { manifests } = await renderChart(chart, { release: { name: 'x' } });
    expect(manifests.map(({ content }) => content)).toEqual(['values: {}']);
  });

  it('gives a subchart its values under a type of their own, and its parent the same ones as a plain map', async () => {
    const types = 'types: {{ typeOf .Values }} {{ index .Values "sub" | typeOf }}';
    const chart = await loadFiles(
      files({
        'Chart.yaml': web['Chart.yaml'],
        'values.yaml': 'sub: {enabled: false}\n',
        // The deeper a path, the earlier it is rendered.
        'templates/a.yaml': `${types}\nenabled: {{ dig "enabled" true (index .Values "sub") }}\nset: {{ .Values.sub.set }}\n`,
        'charts/sub/Chart.yaml': 'apiVersion: v2\nname: sub\nversion: 1.0.0\n',
        'charts/sub/templates/b.yaml':
          'types: {{ typeOf .Values }}{{ $_ := set .Values "set" "below" }}\nall: {{ toJson .Values | quote }}\nlen: {{ len .Values }}\n',
      }),
    );
    const { manifests } = await renderChart(chart, { release: { name: 'shop' } });
    expect(manifests.map(({ content }) => content.trim().split('\n'))).toEqual([
      ['types: common.Values', String.raw`all: "{\"enabled\":false,\"global\":{},\"set\":\"below\"}"`, 'len: 3'],
      ['types: common.Values map[string]interface {}', 'enabled: false', 'set: below'],
    ]);
  });

  it('takes numbers and truth values for texts where a manifest wants texts', async () => {
    const hook = 'annotations: {helm.sh/hook: pre-install, helm.sh/hook-weight: 5}';
    const chart = await loadFiles(
      files({
        'Chart.yaml': web['Chart.yaml'],
        'templates/a.yaml': 'kind: A\nmetadata: {name: 1000000, annotations: {prometheus.io/port: 9090, on: true}}\n',
        'templates/b.yaml': `kind: B\nmetadata: {name: yes, ${hook}}\n`,
        'templates/c.yaml': 'kind: C\nmetadata: {name: c, annotations: {list: [1]}}\n',
      }),
    );
    await expect(renderChart(chart, { release: { name: 'shop' } })).rejects.toThrow(
      'cannot unmarshal array into Go struct field .metadata.annotations of type string',
    );
    const { manifests, hooks } = await renderChart(
      await loadFiles(
        chart.templates.slice(0, 2).concat([{ name: 'Chart.yaml', data: Buffer.from(web['Chart.yaml']) }]),
      ),
      { release: { name: 'shop' } },
    );
    expect(manifests.map(({ name }) => name)).toEqual(['1000000']);
    expect(hooks.map(({ name, weight }) => [name, weight])).toEqual([['true', 5]]);
  });

  it('puts the values it is given over the defaults, and a null removes one', async () => {
    const chart = await loadFiles(files(web));
    const rendered = await renderChart(chart, {
      release: { name: 'shop' },
      values: { replicas: 3, image: { tag: 'v9', repository: null } },
    });
    expect(rendered.manifests[1]!.content).toContain('replicas: 3');
    expect(rendered.values['image']).toEqual({ tag: 'v9' });
  });

  it('looks things up in passes, until no new question comes up', async () => {
    const chart = await loadFiles(
      files({
        'Chart.yaml': web['Chart.yaml'],
        'templates/a.yaml':
          'first: {{ (lookup "v1" "Secret" "ns" "a").next }}\n{{ with (lookup "v1" "Secret" "ns" "a").next }}second: {{ (lookup "v1" "Secret" "ns" .).value }}{{ end }}',
      }),
    );
    const asked: string[] = [];
    const rendered = await renderChart(chart, {
      release: { name: 'x' },
      lookup: async ({ name }) => {
        asked.push(name);
        return name === 'a' ? { next: 'b' } : { value: 'found' };
      },
    });
    expect(rendered.manifests[0]!.object()).toEqual({ first: 'b', second: 'found' });
    expect(asked).toEqual(['a', 'b']);
  });

  it('says what the chart asks for, without the stack of templates', async () => {
    const chart = await loadFiles(
      files({
        'Chart.yaml': web['Chart.yaml'],
        'templates/a.yaml': 'a: {{ required "set .Values.host!" .Values.host }}',
      }),
    );
    await expect(renderChart(chart, { release: { name: 'x' } })).rejects.toMatchObject({
      code: 'TemplateFailed',
      message: 'execution error at (web/templates/a.yaml:1:6): set .Values.host!',
    } satisfies Partial<ChartError>);
  });

  it('refuses values the schema refuses', async () => {
    const schema = '{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"replicas":{"type":"integer"}}}';
    const chart = await loadFiles(files({ ...web, 'values.schema.json': schema }));
    await expect(renderChart(chart, { release: { name: 'x' }, values: { replicas: 'two' } })).rejects.toThrow(
      'web:\n- at \'/replicas\': Instance type "string" is invalid',
    );
  });
});
