import { parseApiVersion, pluralOf, type DeepReadonly, type KubeObject, type PolicyRule } from '@slipway/kube';

import { groupOf } from './identity.ts';

type Rules = readonly DeepReadonly<PolicyRule>[];

/** What somebody does with objects. */
export interface ObjectUse {
  readonly objects: readonly KubeObject[];
  readonly verbs: readonly string[];
}

const rbac = 'rbac.authorization.k8s.io';
/** The built-in kind whose plural is no plural. */
const irregular: readonly (readonly [string, string])[] = [['/Endpoints', 'endpoints']];

/**
 * What it takes to use objects like this, beyond what `given` allows already. Definitions among the objects say how their kinds are called; all
 * others are called by the plural every built-in kind has.
 *
 * @example
 * permissionsToUse([{ objects: [config], verbs: ['get'] }]); // => [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]
 */
export function permissionsToUse(uses: readonly ObjectUse[], given: Rules = []): PolicyRule[] {
  const resourceOf = resourcesOf(uses.flatMap(({ objects }) => objects));
  const wanted = new Map<string, { group: string; resource: string; verbs: Set<string> }>();
  for (const { objects, verbs } of uses) {
    for (const object of objects) {
      const { group, resource } = resourceOf(object);
      const id = `${resource}.${group}`;
      const entry = wanted.get(id) ?? { group, resource, verbs: new Set<string>() };
      wanted.set(id, entry);
      for (const verb of verbs) if (!isGiven(given, group, resource, verb)) entry.verbs.add(verb);
    }
  }
  const lacking = [...wanted.values()].filter(({ verbs }) => verbs.size > 0);
  const alike = Map.groupBy(lacking, ({ group, verbs }) => `${group} ${[...verbs].join()}`);
  return [...alike.values()].map((entries) => ({
    apiGroups: [entries[0]!.group],
    resources: entries.map(({ resource }) => resource),
    verbs: [...entries[0]!.verbs],
  }));
}

/** What roles and bindings hand on: nobody may give away what he does not have, nor bind a role from elsewhere without being allowed to. */
export function handedOnBy(objects: readonly KubeObject[]): PolicyRule[] {
  const roles = objects.filter((object) => isRbac(object) && (object.kind === 'ClusterRole' || object.kind === 'Role'));
  const known = new Set(roles.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
  const bound = objects.flatMap((object) => {
    const { roleRef } = object as { roleRef?: { kind: string; name: string } };
    return isRbac(object) && roleRef && !known.has(`${roleRef.kind} ${roleRef.name}`) ? [roleRef] : [];
  });
  // A role that gathers others can come to hold anything: it takes the right to make just this one.
  const gathering = roles.filter((role) => role['aggregationRule'] !== undefined);
  const named = (kind: string, name: string, verb: string): PolicyRule => ({
    apiGroups: [rbac],
    resources: [pluralOf(kind)],
    resourceNames: [name],
    verbs: [verb],
  });
  return [
    ...roles.flatMap((role) => (role as { rules?: PolicyRule[] }).rules ?? []),
    ...gathering.map(({ kind, metadata }) => named(kind, metadata.name!, 'escalate')),
    ...bound.map(({ kind, name }) => named(kind, name, 'bind')),
  ];
}

function isRbac({ apiVersion }: KubeObject): boolean {
  return groupOf(apiVersion) === rbac;
}

function isGiven(rules: Rules, group: string, resource: string, verb: string): boolean {
  const has = (list: readonly string[] = [], wanted: string) => list.includes(wanted) || list.includes('*');
  return rules.some(
    ({ apiGroups, resources, resourceNames = [], verbs }) =>
      has(apiGroups, group) && has(resources, resource) && has(verbs, verb) && resourceNames.length === 0,
  );
}

/** How the server calls the kinds of a set. */
function resourcesOf(objects: readonly KubeObject[]): (object: KubeObject) => { group: string; resource: string } {
  const defined = new Map<string, string>(irregular);
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
