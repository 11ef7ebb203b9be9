import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseManifests } from '@slipway/manifests';

import { untilEstablished } from '../argo/application-definition.ts';
import { applyManifests } from '../platform/deploy-essential.ts';
import type { Platform } from '../platform/platform.ts';

/** Applies the definitions in `charts/<name>/crds` and waits until the server serves them. */
export async function applyCrds(platform: Platform): Promise<void> {
  const { root } = platform;
  for (const path of await crdFiles(root.path('charts'))) {
    const definitions = parseManifests(await readFile(path, 'utf8'), { source: path });
    await applyManifests(platform, definitions, true);
    for (const { metadata } of definitions) await untilEstablished(platform, metadata.name!);
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
