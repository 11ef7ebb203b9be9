import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigMap } from '@slipway/kube';
import { findOracle } from '@slipway/oracles';
import { onReference, skipped } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { destroyReleases, loadHelmfile, syncReleases, type Helmfile } from '../src/index.ts';
import { type HelmBench, openHelmBench } from './helm-bench.ts';

const oracle = await findOracle('helmfile');
const without =
  skipped(!onReference, 'releases of a helmfile beside the real one: needs the real API server') ||
  skipped(!oracle.available, `releases of a helmfile beside the real one: ${oracle.available ? '' : oracle.reason}`);

const chart = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
  'templates/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  text: {{ .Values.text | default "none" }}\n',
};

const state = `namespace: {{ .Values.where }}
---
releases:
  - {name: one, chart: ./shop, values: [{text: first}]}
  - {name: two, chart: ./shop, needs: [one]}
  - {name: three, chart: ./shop, needs: [one]}
  - {name: four, chart: ./shop, needs: [one]}
  - {name: five, chart: ./shop, needs: [three]}
`;

const several = `helmfiles:
  - path: below.yaml.gotmpl
    values: [{where: {{ .Values.where }}}]
---
releases:
  - name: front
    namespace: {{ .Values.where }}-a
    chart: ./shop
    labels: {tier: front}
    needs: [{{ .Values.where }}-b/back]
  - {name: back, namespace: {{ .Values.where }}-b, chart: ./shop}
  - {name: gone, namespace: {{ .Values.where }}-b, chart: ./shop, installed: {{ .Values | get "kept" true }}}
`;
const below = `releases:
  - {name: deep, namespace: {{ .Values.where }}-c, chart: ./shop, labels: {tier: front}}
`;

describe.skipIf(without)('helmfile and ours on one cluster', { timeout: 300_000 }, () => {
  let bench: HelmBench;
  let file: string;
  let severalFile: string;
  beforeAll(async () => {
    bench = await openHelmBench(chart);
    const folder = dirname(bench.chartFolder);
    file = join(folder, 'helmfile.yaml.gotmpl');
    severalFile = join(folder, 'several.yaml.gotmpl');
    await writeFile(file, state);
    await writeFile(severalFile, several);
    await writeFile(join(folder, 'below.yaml.gotmpl'), below);
    for (const namespace of ['ours', 'theirs']) {
      await bench.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      await bench.client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'three' } });
    }
  });
  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
  });

  const theirs = async (command: string, path = file, ...flags: string[]): Promise<string> =>
    await bench.helm(
      oracle.available ? oracle.path : '',
      '--helm-binary',
      bench.helm4,
      '--file',
      path,
      '--state-values-set',
      'where=theirs',
      ...flags,
      command,
    );
  const ours = async (path = file, selectors: readonly string[] = [], set: object = {}): Promise<Helmfile> =>
    await loadHelmfile({ cwd: dirname(path), path, selectors, set: { where: 'ours', ...set } });

  async function isLeft(): Promise<Record<string, string[]>> {
    const left: Record<string, string[]> = {};
    for (const namespace of ['ours', 'theirs']) {
      const listed = await bench.helm(bench.helm4, 'list', '--namespace', namespace, '--output', 'json');
      const releases = JSON.parse(listed) as { name: string; revision: string; status: string }[];
      left[namespace] = releases.map(({ name, revision, status }) => `${name} ${revision} ${status}`);
    }
    return left;
  }

  test('leave the same of five releases of which the third fails, go on when they are run again, and go away', async () => {
    await expect(theirs('sync')).rejects.toThrow(/release "?three/i);
    await expect(syncReleases(await ours(), bench.context)).rejects.toThrow(/^release three in ours: /);
    const failed = await isLeft();
    expect(failed['ours']).toEqual(failed['theirs']);
    expect(failed['ours']).not.toContain('five 1 deployed');

    for (const namespace of ['ours', 'theirs']) await bench.client.delete(ConfigMap, { namespace, name: 'three' });
    await theirs('sync');
    await syncReleases(await ours(), bench.context);
    const mended = await isLeft();
    expect(mended['ours']).toEqual(mended['theirs']);
    expect(mended['ours']).toContain('five 1 deployed');

    await theirs('destroy');
    await destroyReleases(await ours(), bench.context);
    expect(await isLeft()).toEqual({ ours: [], theirs: [] });
  });

  test('leave the same of selected releases, of nested states and of those that are not to be there', async () => {
    const where = async (owner: string): Promise<string[]> => {
      const listed = await bench.helm(bench.helm4, 'list', '--all-namespaces', '--output', 'json');
      const releases = JSON.parse(listed) as { name: string; namespace: string; revision: string; status: string }[];
      return releases
        .filter(({ namespace }) => namespace.startsWith(`${owner}-`))
        .map(({ name, namespace, revision, status }) => `${namespace.slice(-1)}/${name} ${revision} ${status}`);
    };
    const { context } = bench;
    const same = async (): Promise<string[]> => {
      const ofOurs = await where('ours');
      expect(ofOurs).toEqual(await where('theirs'));
      return ofOurs;
    };
    const front = 'tier=front';
    await theirs('sync', severalFile);
    await syncReleases(await ours(severalFile), context, { concurrency: 3 });
    await same();

    await theirs('sync', severalFile, '--selector', front);
    await syncReleases(await ours(severalFile, [front]), context);
    expect(await same()).toContain('a/front 2 deployed');

    await theirs('sync', severalFile, '--selector', 'name=gone', '--state-values-set', 'kept=false');
    await syncReleases(await ours(severalFile, ['name=gone'], { kept: false }), context);
    await theirs('destroy', severalFile, '--selector', front);
    await destroyReleases(await ours(severalFile, [front]), context);
    expect(await same()).toEqual(['b/back 1 deployed']);
  });
});
