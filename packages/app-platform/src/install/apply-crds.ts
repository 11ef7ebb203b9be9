import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CustomResourceDefinition, isConditionTrue, sleep } from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';

import { applyManifests } from '../platform/deploy-essential.ts';
import type { Platform } from '../platform/platform.ts';

const establishedWithinMs = 60_000;
const lookEveryMs = 500;

/** Applies the definitions in `charts/<name>/crds` and waits until the server serves them. */
export async function applyCrds(platform: Platform): Promise<void> {
  const { client, clock, root, signal } = platform;
  for (const path of await crdFiles(root.path('charts'))) {
    const definitions = parseManifests(await readFile(path, 'utf8'), { source: path });
    await applyManifests(platform, definitions, true);
    for (const { metadata } of definitions) {
      const end = clock.monotonic() + establishedWithinMs;
      const established = async (): Promise<boolean> =>
        isConditionTrue(
          await client.get(CustomResourceDefinition, { name: metadata.name! }, { signal }),
          'Established',
        );
      while (!(await established())) {
        if (clock.monotonic() > end) throw new Error(`the definition ${metadata.name} was not established in time`);
        await sleep(clock, lookEveryMs, signal);
      }
    }
  }
}

async function crdFiles(charts: string): Promise<string[]> {
  const files: string[] = [];
  for (const chart of (await readdir(charts)).sort()) {
    const folder = join(charts, chart, 'crds');
    const names = await readdir(folder).catch(() => []);
    files.push(
      ...names
        .filter((name) => /\.ya?ml$/.test(name))
        .sort()
        .map((name) => join(folder, name)),
    );
  }
  return files;
}
