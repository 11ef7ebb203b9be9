import { join } from 'node:path';
import { parseApiVersion, pluralOf, type DeepReadonly, type KubeObject, type PolicyRule } from '@slipway/kube';

import { keep, ownPermissions, probePermissions } from './permissions.ts';
import { ModuleLoader, type ModuleFiles } from './resources/load.ts';

type Rules = readonly DeepReadonly<PolicyRule>[];

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
export function permissionsFor(files: ModuleFiles): PolicyRule[] {
  const rules: PolicyRule[] = [...ownPermissions, ...probePermissions];
  const resourceOf = resourcesOf(files.apply);
  const add = (object: KubeObject, verbs: readonly string[]) => {
    const { group, resource } = resourceOf(object);
    const missing = verbs.filter((verb) => !isGiven(rules, group, resource, verb));
    if (missing.length > 0) rules.push({ apiGroups: [group], resources: [resource], verbs: missing });
  };
  for (const object of [...files.apply, ...files.networkPolicies]) add(object, keep);
  for (const object of files.outdated) add(object, ['get', 'list', 'delete', 'deletecollection']);
  return [...rules, ...handedOnBy(files.apply)] as PolicyRule[];
}

/** Nobody may give away what he does not have; a role from elsewhere he may only bind when he is allowed to. */
function handedOnBy(objects: readonly KubeObject[]): Rules {
  const roles = objects.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
  const known = new Set(roles.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
  const bound = objects.flatMap((object) => {
    const { roleRef } = object as { roleRef?: { kind: string; name: string } };
    return roleRef && !known.has(`${roleRef.kind} ${roleRef.name}`) ? [roleRef] : [];
  });
  return [
    ...roles.flatMap((role) => (role as { rules?: PolicyRule[] }).rules ?? []),
    ...bound.map(({ kind, name }) => ({
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: [pluralOf(kind)],
      resourceNames: [name],
      verbs: ['bind'],
    })),
  ];
}

function isGiven(rules: Rules, group: string, resource: string, verb: string): boolean {
  return rules.some(
    ({ apiGroups = [], resources = [], verbs }) =>
      apiGroups.includes(group) && resources.includes(resource) && verbs.includes(verb),
  );
}

/** How the server calls the kinds of a set: as their definitions say, or by the plural every built-in kind has. */
function resourcesOf(objects: readonly KubeObject[]): (object: KubeObject) => { group: string; resource: string } {
  const defined = new Map<string, string>();
  for (const object of objects) {
    const { spec } = object as { spec?: { group?: string; names?: { kind?: string; plural?: string } } };
    if (object.kind === 'CustomResourceDefinition' && spec?.names?.plural)
      defined.set(`${spec.group}/${spec.names.kind}`, spec.names.plural);
  }
  return ({ apiVersion, kind }) => {
    const { group } = parseApiVersion(apiVersion);
    return { group, resource: defined.get(`${group}/${kind}`) ?? pluralOf(kind) };
  };
}
