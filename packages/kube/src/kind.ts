import type { KubeObject } from './object.ts';

/**
 * A kind of object: its names, its scope and (at compile time only) the type of its objects. Everything that reads or
 * writes objects takes a `Kind`, so the type of the answer is known without a cast.
 */
export interface Kind<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: T['kind'];
  /** Lower-case plural as in URLs, such as `deployments`. */
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  /** `group/version`, or `version` for the core group. */
  readonly apiVersion: T['apiVersion'];
  /** Never present at run time; carries the static type. */
  readonly __object?: T;
}

/** The type of a kind's objects. */
export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

/** `Kind.group/version`, the way kinds are named in errors and logs. */
export function kindText(kind: Pick<Kind, 'group' | 'version' | 'kind'>): string {
  return kind.group ? `${kind.kind}.${kind.version}.${kind.group}` : `${kind.kind}.${kind.version}`;
}

/** A kind from its names, for objects without a schema of ours: `kindOf('cert-manager.io', 'v1', 'Certificate', 'certificates')`. */
export function kindOf<T extends KubeObject = KubeObject>(
  group: string,
  version: string,
  kind: string,
  plural: string,
  scope: 'Namespaced' | 'Cluster' = 'Namespaced',
): Kind<T> {
  return {
    group,
    version,
    kind: kind as T['kind'],
    plural,
    scope,
    apiVersion: (group === '' ? version : `${group}/${version}`) as T['apiVersion'],
  };
}

/**
 * The one way around the types of built-in kinds: in here, fields they do not name compile, such as those of a newer
 * Kubernetes. `client.create(unchecked({ … }))`, or `unchecked<Deployment>({ … })` where a Deployment is asked for.
 */
export function unchecked<T extends KubeObject = KubeObject>(object: KubeObject): T {
  return object as T;
}

/** Splits `group/version`; the group of `v1` is `''`. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}
