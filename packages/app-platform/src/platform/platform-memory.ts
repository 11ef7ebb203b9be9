import { AppliedMemo } from '@slipway/manifests';

import { OpenedSecrets } from '../secrets/opened-secrets.ts';
import { ValuesLayers } from '../values/layers.ts';
import type { PlatformRoot } from '../values/platform-root.ts';
import type { Platform } from './platform.ts';
import { ReadManifests } from './read-manifests.ts';

/** What a process keeps from round to round. Losing it costs time, and nothing else but the age key it was told. */
export type PlatformMemory = Pick<Platform, 'layers' | 'keys' | 'opened' | 'applied' | 'manifests'>;

export function platformMemory(root: PlatformRoot, directory: string): PlatformMemory {
  return {
    layers: new ValuesLayers(root, directory),
    keys: new Set(),
    opened: new OpenedSecrets(),
    applied: new AppliedMemo(),
    manifests: new ReadManifests(),
  };
}
