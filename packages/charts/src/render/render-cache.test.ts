import { expect, test } from 'vitest';

import type { Chart } from '../chart/chart.ts';
import { loadFiles } from '../chart/load.ts';
import { RenderCache } from './render-cache.ts';
import { renderChart, type RenderOptions } from './render.ts';

const chartOf = async (template: string): Promise<Chart> =>
  await loadFiles(
    Object.entries({
      'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
      'templates/all.yaml': template,
    }).map(([name, text]) => ({ name, data: Buffer.from(text) })),
  );

const template =
  'kind: ConfigMap\napiVersion: v1\nmetadata: {name: {{ .Release.Name }}}\ndata: {color: {{ .Values.color }}}\n';
const options: RenderOptions = { values: { color: 'red' }, release: { name: 'shop' } };

async function renderedTwice(first: [Chart, RenderOptions], second: [Chart, RenderOptions]) {
  const cache = new RenderCache();
  const texts: string[] = [];
  for (const [chart, given] of [first, second]) {
    const { manifests } = await renderChart(chart, { ...given, cache });
    texts.push(manifests.map(({ content }) => content).join());
  }
  return { texts, misses: cache.misses };
}

test('the same chart with the same input is rendered once, also when it was read anew', async () => {
  const { texts, misses } = await renderedTwice(
    [await chartOf(template), options],
    [await chartOf(template), structuredClone(options)],
  );
  expect(misses).toBe(1);
  expect(texts[1]).toBe(texts[0]);
  expect(texts[0]).toContain('red');
});

test.each<[what: string, text: string, change: Partial<RenderOptions>]>([
  ['a file of the chart', template.replace('color:', 'colour:'), {}],
  ['a value', template, { values: { color: 'blue' } }],
  ['an integer that becomes a float', template, { values: new Map([['color', 1]]) }],
  ['the release', template, { release: { name: 'store' } }],
  ['the version of the cluster', template, { capabilities: { kubeVersion: 'v1.30.0' } }],
  ['what the cluster serves', template, { capabilities: { apiVersions: ['v1'] } }],
  ['the dialect', template, { dialect: 'helm3' }],
])('another %s is another render', async (_what, text, change) => {
  const base = change.values instanceof Map ? { ...options, values: new Map([['color', 1n]]) } : options;
  const { misses } = await renderedTwice(
    [await chartOf(template), base],
    [await chartOf(text), { ...base, ...change }],
  );
  expect(misses).toBe(2);
});

test.each([
  ['chance', '{{ randAlphaNum 20 }}'],
  ['the clock', '{{ now | unixEpoch }}'],
  ['a new key', '{{ genPrivateKey "ed25519" | b64enc }}'],
  ['a new certificate', '{{ (genSelfSignedCert "a" nil nil 1).Cert | b64enc }}'],
  ['the cluster', '{{ len (lookup "v1" "Secret" "a" "b") }}'],
])('what depends on %s is rendered every time', async (_what, expression) => {
  const chart = await chartOf(template.replace('{{ .Values.color }}', expression));
  expect((await renderedTwice([chart, options], [chart, options])).misses).toBe(2);
});
