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

describe.skipIf(without)('five releases, of which the third fails', { timeout: 300_000 }, () => {
  let bench: HelmBench;
  let file: string;
  beforeAll(async () => {
    bench = await openHelmBench(chart);
    file = join(dirname(bench.chartFolder), 'helmfile.yaml.gotmpl');
    await writeFile(file, state);
    for (const namespace of ['ours', 'theirs']) {
      await bench.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      await bench.client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'three' } });
    }
  });
  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
  });

  const theirs = async (command: string): Promise<string> =>
    await bench.helm(
      oracle.available ? oracle.path : '',
      '--helm-binary',
      bench.helm4,
      '--file',
      file,
      '--state-values-set',
      'where=theirs',
      command,
    );
  const ours = async (): Promise<Helmfile> =>
    await loadHelmfile({ cwd: dirname(file), path: file, set: { where: 'ours' } });

  async function isLeft(): Promise<Record<string, string[]>> {
    const left: Record<string, string[]> = {};
    for (const namespace of ['ours', 'theirs']) {
      const listed = await bench.helm(bench.helm4, 'list', '--namespace', namespace, '--output', 'json');
      const releases = JSON.parse(listed) as { name: string; revision: string; status: string }[];
      left[namespace] = releases.map(({ name, revision, status }) => `${name} ${revision} ${status}`);
    }
    return left;
  }

  test('leaves the same on the cluster as helmfile, goes on when it is run again, and goes away', async () => {
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
});
