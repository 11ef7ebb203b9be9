import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject } from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';

import { untilEstablished } from '../argo/application-definition.ts';
import { applyManifests } from '../platform/deploy-essential.ts';
import type { Platform } from '../platform/platform.ts';
import type { PlatformRoot } from '../values/platform-root.ts';

/** Applies the definitions in `charts/<name>/crds` and waits until the server serves them. */
export async function applyCrds(platform: Platform): Promise<void> {
  for (const path of await crdFiles(platform.root)) {
    const definitions = await definitionsIn(path);
    await applyManifests(platform, definitions, true);
    for (const { metadata } of definitions) await untilEstablished(platform, metadata.name!);
  }
}

/** All of these definitions. */
export async function definitionsOf(root: PlatformRoot): Promise<KubeObject[]> {
  const found = await Promise.all((await crdFiles(root)).map(definitionsIn));
  return found.flat();
}

async function definitionsIn(path: string): Promise<KubeObject[]> {
  return parseManifests(await readFile(path, 'utf8'), { source: path });
}

async function crdFiles(root: PlatformRoot): Promise<string[]> {
  const charts = root.path('charts');
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
