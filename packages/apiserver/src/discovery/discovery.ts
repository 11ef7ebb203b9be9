import type { JsonObject } from '../object.ts';
import type { Registry } from '../registry.ts';
import type { Resource } from '../resource.ts';
import { apiVersionOf } from '../request/versions.ts';
import { nodeCrypto } from '../node-crypto.ts';

/** The groups and versions of a registry, in the order discovery shows them. */
export interface ServedGroup {
  /** Empty for the core group. */
  readonly name: string;
  /** Best first. */
  readonly versions: readonly { readonly version: string; readonly resources: readonly Resource[] }[];
}

export function servedGroups(registry: Registry): ServedGroup[] {
  const groups = new Map<string, Map<string, Resource[]>>();
  for (const resource of registry.resources()) {
    let versions = groups.get(resource.group);
    if (!versions) groups.set(resource.group, (versions = new Map()));
    const list = versions.get(resource.version);
    if (list) list.push(resource);
    else versions.set(resource.version, [resource]);
  }
  return [...groups].map(([name, versions]) => ({
    name,
    versions: [...versions]
      .map(([version, resources]) => ({ version, resources }))
      .toSorted((a, b) => compareVersions(a.version, b.version)),
  }));
}

/** GA before beta before alpha, then higher numbers first, then anything else by name. */
export function compareVersions(a: string, b: string): number {
  const left = priorityOf(a);
  const right = priorityOf(b);
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : 1;
  for (const [index, value] of left.entries()) if (value !== right[index]) return right[index]! - value;
  return 0;
}

function priorityOf(version: string): [number, number, number] | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (!match) return undefined;
  const stage = match[2] === 'alpha' ? 0 : match[2] === 'beta' ? 1 : 2;
  return [stage, Number(match[1]), Number(match[3] ?? 0)];
}

/** `/apis`. */
export function groupList(groups: readonly ServedGroup[]): JsonObject {
  const named = groups.filter(({ name }) => name !== '').map(groupOf);
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: named };
}

/** `/apis/{group}`. */
export function groupDocument(group: ServedGroup): JsonObject {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group) };
}

function groupOf(group: ServedGroup): JsonObject {
  const versions = group.versions.map(({ version }) => ({ groupVersion: `${group.name}/${version}`, version }));
  return { name: group.name, versions, preferredVersion: versions[0]! };
}

/** `/api`. */
export function coreVersions(serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** `/api/v1`, `/apis/{group}/{version}`. */
export function resourceList(group: string, version: string, resources: readonly Resource[]): JsonObject {
  const rows = resources.flatMap((resource) => [
    legacyRow(resource),
    ...Object.entries(resource.subresources).map(([name, subresource]) => ({
      name: `${resource.plural}/${name}`,
      singularName: '',
      namespaced: resource.namespaced,
      ...(subresource.group && subresource.group !== group ? { group: subresource.group } : {}),
      ...(subresource.version && (subresource.version !== version || (subresource.group && subresource.group !== group))
        ? { version: subresource.version }
        : {}),
      kind: subresource.kind,
      verbs: [...subresource.verbs],
    })),
  ]);
  return {
    kind: 'APIResourceList',
    ...(group ? { apiVersion: 'v1' } : {}),
    groupVersion: apiVersionOf({ group, version }),
    resources: rows,
  };
}

function legacyRow(resource: Resource): JsonObject {
  const hash = resource.custom ? storageHash(resource) : resource.storageVersionHash;
  return {
    name: resource.plural,
    singularName: resource.singular,
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: [...resource.verbs],
    ...(resource.shortNames.length > 0 ? { shortNames: [...resource.shortNames] } : {}),
    ...(resource.categories.length > 0 ? { categories: [...resource.categories] } : {}),
    ...(hash ? { storageVersionHash: hash } : {}),
  };
}

/** Changes when objects are stored in another version; the same construction as the real server's. */
function storageHash(resource: Resource): string {
  const text = `${resource.group}/${resource.storageVersion}/${resource.kind}`;
  return nodeCrypto().createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');
}

/** The aggregated form of `/api` (core group only) and `/apis` (all others). */
export function aggregated(groups: readonly ServedGroup[], core: boolean, apiVersion: string): JsonObject {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion,
    metadata: {},
    items: groups
      .filter(({ name }) => (name === '') === core)
      .map((group): JsonObject => ({
        metadata: group.name ? { name: group.name } : {},
        versions: group.versions.map(({ version, resources }) => ({
          version,
          resources: resources.map((resource) => aggregatedRow(resource)),
          freshness: 'Current',
        })),
      })),
  };
}

function aggregatedRow(resource: Resource): JsonObject {
  const subresources = Object.entries(resource.subresources).map(([name, { group, version, kind, verbs }]) => {
    const own = (!group || group === resource.group) && (!version || version === resource.version);
    return {
      subresource: name,
      responseKind: own ? { group: '', version: '', kind } : { group, version, kind },
      verbs: [...verbs],
    };
  });
  return {
    resource: resource.plural,
    responseKind: { group: '', version: '', kind: resource.kind },
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: [...resource.verbs],
    ...(resource.shortNames.length > 0 ? { shortNames: [...resource.shortNames] } : {}),
    ...(resource.categories.length > 0 ? { categories: [...resource.categories] } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}
