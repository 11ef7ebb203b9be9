import type { KubeObject } from '@slipway/kube';
import { orderInWaves } from '@slipway/manifests';

import { applyChanged } from './apply-changed.ts';
import { initHelmfile } from './helmfile.ts';
import type { Platform } from './platform.ts';

/** Namespaces, accounts and roles everything else lives in, by server-side apply. */
export async function deployEssential(
  platform: Platform,
  options: { readonly selectors?: readonly string[]; readonly force: boolean },
): Promise<void> {
  const { helmfile, signal } = platform;
  const { selectors } = options;
  const text = await helmfile.template({ file: initHelmfile, signal, ...(selectors ? { selectors } : {}) });
  await applyManifests(platform, platform.manifests.read(text, initHelmfile), options.force);
}

/** Applies objects in the order their kinds need, without taking fields from others unless `force` says so. */
export async function applyManifests(
  platform: Pick<Platform, 'client' | 'signal' | 'applied'>,
  objects: readonly KubeObject[],
  force: boolean,
): Promise<void> {
  for (const wave of orderInWaves(objects)) await applyChanged(platform, wave.objects, { force });
}
