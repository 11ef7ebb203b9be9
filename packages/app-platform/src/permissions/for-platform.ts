import type { PolicyRule } from '@slipway/kube';
import { handedOnBy, permissionsToUse } from '@slipway/manifests';

import { PlatformRoot } from '../values/platform-root.ts';
import { ownPermissions } from './own.ts';
import { platformObjects } from './platform-objects.ts';

/** What it takes to apply objects, and to see first whether they are right already. */
const apply = ['list', 'create', 'patch'];
/** What it takes to keep objects as they should be, and to remove them. */
const keep = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

/** What the operator needs for a platform: what it does itself, what it does with the kinds in the charts, and what roles in them hand on. */
export async function permissionsForPlatform(directory: string): Promise<PolicyRule[]> {
  const { essential, definitions, releases, upgrades } = await platformObjects(new PlatformRoot(directory));
  const uses = [
    { objects: definitions, verbs: ['get', 'watch', ...apply] },
    { objects: essential, verbs: apply },
    { objects: releases, verbs: keep },
    ...upgrades,
  ];
  return [...ownPermissions, ...permissionsToUse(uses, ownPermissions), ...handedOnBy([...essential, ...releases])];
}
