import { join } from 'node:path';
import type { PolicyRule } from '@slipway/kube';
import { handedOnBy, permissionsToUse } from '@slipway/manifests';

import { keep, ownPermissions, probePermissions } from './permissions.ts';
import { ModuleLoader, type ModuleFiles } from './resources/load.ts';

/** What the manager needs for a set of its own layout, such as the one of the original: a folder with `module-chart`, `module-resources` and `manager-resources`. */
export async function permissionsForFolder(folder: string): Promise<PolicyRule[]> {
  const files = await new ModuleLoader().load({
    chartPath: join(folder, 'module-chart', 'chart'),
    resourcesPath: join(folder, 'module-resources'),
    managerResourcesPath: join(folder, 'manager-resources'),
  });
  return permissionsFor(files);
}

/** What the manager does itself, what it does with the kinds of the set, and what the roles of the set hand on. */
export function permissionsFor({ apply, networkPolicies, outdated }: ModuleFiles): PolicyRule[] {
  const own = [...ownPermissions, ...probePermissions];
  const uses = [
    { objects: [...apply, ...networkPolicies], verbs: keep },
    { objects: outdated, verbs: ['get', 'list', 'delete', 'deletecollection'] },
  ];
  return [...own, ...permissionsToUse(uses, own), ...handedOnBy(apply)];
}
