export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
}

export interface ServedObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    generation?: number;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

export interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: ServedObject;
  /** Labels before the change: an object can leave a selector. */
  readonly labelsBefore: Readonly<Record<string, string>> | undefined;
}

/** The objects of one kind and what happened to them. */
export class ServedResource {
  readonly served: ServedKind;
  readonly objects = new Map<string, ServedObject>();
  readonly changes: Change[] = [];
  /** Changes up to here are forgotten. */
  compactedAt = 0;

  constructor(served: ServedKind) {
    this.served = served;
  }

  get path(): string {
    const { group, version, plural } = this.served;
    return group ? `/apis/${group}/${version}/${plural}` : `/api/${version}/${plural}`;
  }

  /** Whether `path` asks for this resource, and for which namespace. */
  match(path: string): { namespace: string | undefined } | undefined {
    if (path === this.path) return { namespace: undefined };
    const { group, version, plural } = this.served;
    const root = group ? `/apis/${group}/${version}` : `/api/${version}`;
    const found = new RegExp(`^${root}/namespaces/([^/]+)/${plural}$`).exec(path);
    return found ? { namespace: decodeURIComponent(found[1]!) } : undefined;
  }
}

export function keyOfServed(object: { metadata: { name: string; namespace?: string } }): string {
  const { namespace, name } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}
