import type { Resource } from './resource.ts';

/** The resources the server serves at this moment. CRDs come and go; everyone who keeps something derived from it listens. */
export class Registry {
  readonly #byPath = new Map<string, Resource>();
  readonly #byKind = new Map<string, Resource>();
  readonly #listeners = new Set<() => void>();
  #generation = 0;
  /** Made when first asked for after a change: every write asks it once for each webhook. */
  #byStorage: Map<string, Resource[]> | undefined;

  constructor(resources: Iterable<Resource> = []) {
    for (const resource of resources) this.#add(resource);
  }

  /** Counts changes; caches of derived data compare it. */
  get generation(): number {
    return this.#generation;
  }

  /** All resources in the order they were added. */
  resources(): Resource[] {
    return [...this.#byPath.values()];
  }

  /** By URL coordinates, such as `('apps', 'v1', 'deployments')`. */
  byPath(group: string, version: string, plural: string): Resource | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`);
  }

  byKind(group: string, version: string, kind: string): Resource | undefined {
    return this.#byKind.get(`${group}/${version}/${kind}`);
  }

  /** All versions that share one storage. */
  byStorage(storageId: string): readonly Resource[] {
    this.#byStorage ??= Map.groupBy(this.#byPath.values(), (resource) => resource.storageId);
    return this.#byStorage.get(storageId) ?? [];
  }

  hasGroup(group: string): boolean {
    return this.resources().some((resource) => resource.group === group);
  }

  hasVersion(group: string, version: string): boolean {
    return this.resources().some((resource) => resource.group === group && resource.version === version);
  }

  /** Adds resources; ones at the same path are replaced. */
  put(resources: Iterable<Resource>): void {
    for (const resource of resources) this.#add(resource);
    this.#changed();
  }

  /** Removes every version that uses a storage id. */
  remove(storageId: string): void {
    if (this.#drop(storageId)) this.#changed();
  }

  /** Serves these versions of a storage id and no others. */
  replace(storageId: string, resources: Iterable<Resource>): void {
    this.#drop(storageId);
    this.put(resources);
  }

  /** Calls `listener` after every change; returns how to stop that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #drop(storageId: string): boolean {
    let removed = false;
    for (const [path, resource] of this.#byPath) {
      if (resource.storageId !== storageId) continue;
      this.#byPath.delete(path);
      this.#byKind.delete(`${resource.group}/${resource.version}/${resource.kind}`);
      removed = true;
    }
    this.#byStorage = undefined;
    return removed;
  }

  #add(resource: Resource): void {
    this.#byStorage = undefined;
    this.#byPath.set(`${resource.group}/${resource.version}/${resource.plural}`, resource);
    const kind = `${resource.group}/${resource.version}/${resource.kind}`;
    // Of several resources of one kind (Eviction, Binding) the first, which is the main one, wins.
    const known = this.#byKind.get(kind);
    if (!known || known.plural === resource.plural) this.#byKind.set(kind, resource);
  }

  #changed(): void {
    this.#generation += 1;
    for (const listener of this.#listeners) listener();
  }
}
