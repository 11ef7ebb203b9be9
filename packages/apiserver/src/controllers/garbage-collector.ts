import { ApiError } from '../api-error.ts';
import type { ServedResource } from '../local-client.ts';
import type { ApiObject, OwnerReference } from '../object.ts';
import type { ControllerContext, RunningController } from './controller.ts';
import { WorkQueue } from './work-queue.ts';

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

interface Node {
  readonly uid: string;
  readonly resource: ServedResource;
  object: ApiObject;
}

/** What an owner reference means for the object that carries it. */
type Standing = 'solid' | 'dangling' | 'waiting';

function finalizers(object: ApiObject): readonly string[] {
  return object.metadata.finalizers ?? [];
}

function isDeleting(object: ApiObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

function waitsForDependents(object: ApiObject): boolean {
  return isDeleting(object) && finalizers(object).includes(FOREGROUND);
}

/**
 * Deletes what lost its owners and serves the two finalizers behind `propagationPolicy`: `orphan` (cut the references, then let
 * the owner go) and `foregroundDeletion` (delete the dependents, then let the owner go). It knows the owners of everything from
 * the shared informers, and asks the server before it believes that an owner is absent.
 */
export function startGarbageCollector(context: ControllerContext): RunningController {
  const collector = new GarbageCollector(context);
  return { stop: () => collector.stop() };
}

class GarbageCollector {
  readonly #context: ControllerContext;
  readonly #nodes = new Map<string, Node>();
  readonly #dependents = new Map<string, Set<string>>();
  readonly #queue: WorkQueue;
  readonly #unsubscribe: () => void;
  /** Objects whose owner's kind is not served (yet). */
  readonly #unresolved = new Set<string>();
  readonly #stopResourceListener: () => void;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#queue = new WorkQueue({
      name: 'garbage collector',
      clock: context.clock,
      log: context.log,
      process: (uid) => this.#process(uid),
    });
    this.#unsubscribe = context.informers.subscribeToAll((resource, change) => {
      if (change.deleted) {
        this.#forget(change.object);
      } else {
        this.#learn(resource, change.object);
      }
    });
    this.#stopResourceListener = context.client.onResourcesChanged(() => {
      for (const uid of this.#unresolved) {
        this.#queue.add(uid);
      }
    });
  }

  stop(): void {
    this.#unsubscribe();
    this.#stopResourceListener();
    this.#queue.stop();
  }

  #learn(resource: ServedResource, object: ApiObject): void {
    const uid = object.metadata.uid!;
    const known = this.#nodes.get(uid);
    if (known) {
      this.#unlink(known);
      known.object = object;
    } else {
      this.#nodes.set(uid, { uid, resource, object });
    }
    const owners = object.metadata.ownerReferences ?? [];
    for (const owner of owners) {
      let dependents = this.#dependents.get(owner.uid);
      if (!dependents) {
        dependents = new Set();
        this.#dependents.set(owner.uid, dependents);
      }
      dependents.add(uid);
      // An owner in foreground deletion may be waiting for exactly this change.
      const ownerNode = this.#nodes.get(owner.uid);
      if (ownerNode && waitsForDependents(ownerNode.object)) {
        this.#queue.add(owner.uid);
      }
    }
    if (owners.length > 0 || (isDeleting(object) && finalizers(object).length > 0)) {
      this.#queue.add(uid);
    }
  }

  #forget(object: ApiObject): void {
    const uid = object.metadata.uid!;
    const node = this.#nodes.get(uid);
    if (node) {
      this.#unlink(node);
      this.#nodes.delete(uid);
    }
    this.#unresolved.delete(uid);
    for (const owner of object.metadata.ownerReferences ?? []) {
      if (this.#nodes.has(owner.uid)) {
        this.#queue.add(owner.uid);
      }
    }
    for (const dependent of this.#dependents.get(uid) ?? []) {
      this.#queue.add(dependent);
    }
  }

  #unlink(node: Node): void {
    for (const owner of node.object.metadata.ownerReferences ?? []) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(node.uid);
      if (dependents?.size === 0) {
        this.#dependents.delete(owner.uid);
      }
    }
  }

  #dependentsOf(uid: string): Node[] {
    return [...(this.#dependents.get(uid) ?? [])].map((dependent) => this.#nodes.get(dependent)!).filter(Boolean);
  }

  async #process(uid: string): Promise<void> {
    // Without every kind's first list the graph could lack a dependent.
    await this.#context.informers.synced();
    const node = this.#nodes.get(uid);
    if (!node) {
      return;
    }
    if (isDeleting(node.object)) {
      if (finalizers(node.object).includes(ORPHAN)) {
        await this.#orphanDependents(node);
      } else if (finalizers(node.object).includes(FOREGROUND)) {
        await this.#deleteDependentsFirst(node);
      }
      return;
    }
    if ((node.object.metadata.ownerReferences ?? []).length > 0) {
      await this.#checkOwners(node);
    }
  }

  async #orphanDependents(owner: Node): Promise<void> {
    for (const dependent of this.#dependentsOf(owner.uid)) {
      await this.#removeOwners(dependent, (reference) => reference.uid === owner.uid);
    }
    await this.#removeFinalizer(owner, ORPHAN);
  }

  async #deleteDependentsFirst(owner: Node): Promise<void> {
    const dependents = this.#dependentsOf(owner.uid);
    for (const dependent of dependents) {
      if (!isDeleting(dependent.object)) {
        await this.#checkOwners(dependent);
      }
    }
    const blocking = this.#dependentsOf(owner.uid).filter((dependent) =>
      (dependent.object.metadata.ownerReferences ?? []).some(
        (reference) => reference.uid === owner.uid && reference.blockOwnerDeletion === true,
      ),
    );
    if (blocking.length === 0) {
      await this.#removeFinalizer(owner, FOREGROUND);
    }
  }

  async #checkOwners(node: Node): Promise<void> {
    const live = await this.#read(node);
    if (!live || isDeleting(live)) {
      return;
    }
    const references = live.metadata.ownerReferences ?? [];
    const standings: Standing[] = [];
    for (const reference of references) {
      const standing = await this.#standing(node, reference);
      if (standing === undefined) {
        this.#unresolved.add(node.uid);
        return;
      }
      standings.push(standing);
    }
    this.#unresolved.delete(node.uid);
    if (references.length === 0) {
      return;
    }
    if (standings.includes('solid')) {
      if (standings.some((standing) => standing !== 'solid')) {
        const lost = new Set(references.filter((_, index) => standings[index] !== 'solid').map((each) => each.uid));
        await this.#removeOwners(node, (reference) => lost.has(reference.uid));
      }
      return;
    }
    const dependents = this.#dependentsOf(node.uid);
    if (standings.includes('waiting') && dependents.length > 0) {
      // Two objects that own each other would wait for each other forever.
      if (dependents.some((dependent) => waitsForDependents(dependent.object))) {
        await this.#unblockOwners(node);
      }
      await this.#delete(node, live, 'Foreground');
      return;
    }
    const policy = finalizers(live).includes(ORPHAN)
      ? 'Orphan'
      : finalizers(live).includes(FOREGROUND)
        ? 'Foreground'
        : 'Background';
    await this.#delete(node, live, policy);
  }

  /** `undefined` when it cannot be told, because the owner's kind is not served or the reference crosses scopes. */
  async #standing(dependent: Node, reference: OwnerReference): Promise<Standing | undefined> {
    const resource = this.#resourceOf(reference);
    if (!resource) {
      return undefined;
    }
    const namespace = dependent.object.metadata.namespace;
    if (resource.namespaced && namespace === undefined) {
      // A cluster-scoped object cannot name a namespaced owner; the real collector leaves it alone, too.
      return undefined;
    }
    const owner = await this.#get(resource, resource.namespaced ? namespace : undefined, reference.name);
    if (!owner || owner.metadata.uid !== reference.uid) {
      return 'dangling';
    }
    return waitsForDependents(owner) ? 'waiting' : 'solid';
  }

  #resourceOf(reference: OwnerReference): ServedResource | undefined {
    const slash = reference.apiVersion.indexOf('/');
    const group = slash < 0 ? '' : reference.apiVersion.slice(0, slash);
    const version = reference.apiVersion.slice(slash + 1);
    const candidates = this.#context.client
      .resources()
      .filter((resource) => resource.group === group && resource.kind === reference.kind);
    return candidates.find((resource) => resource.version === version) ?? candidates[0];
  }

  async #get(resource: ServedResource, namespace: string | undefined, name: string): Promise<ApiObject | undefined> {
    const { group, version, plural } = resource;
    try {
      return await this.#context.client.get({ group, version, plural, namespace, name });
    } catch (error) {
      if (error instanceof ApiError && error.status.code === 404) {
        return undefined;
      }
      throw error;
    }
  }

  async #read(node: Node): Promise<ApiObject | undefined> {
    const { namespace, name } = node.object.metadata;
    const live = await this.#get(node.resource, namespace, name!);
    return live?.metadata.uid === node.uid ? live : undefined;
  }

  #address(node: Node) {
    const { group, version, plural } = node.resource;
    return { group, version, plural, namespace: node.object.metadata.namespace, name: node.object.metadata.name! };
  }

  async #delete(node: Node, live: ApiObject, propagationPolicy: 'Orphan' | 'Foreground' | 'Background'): Promise<void> {
    // The version is part of the condition: an owner added in this moment must save the object.
    const preconditions = { uid: node.uid, resourceVersion: live.metadata.resourceVersion };
    await this.#tolerateGone(() =>
      this.#context.client.delete(this.#address(node), { propagationPolicy, preconditions }),
    );
  }

  async #removeOwners(node: Node, isLost: (reference: OwnerReference) => boolean): Promise<void> {
    const live = await this.#read(node);
    const references = live?.metadata.ownerReferences;
    if (!live || !references?.some(isLost)) {
      return;
    }
    const kept = references.filter((reference) => !isLost(reference));
    await this.#patchMetadata(node, live, { ownerReferences: kept.length > 0 ? kept : null });
  }

  async #unblockOwners(node: Node): Promise<void> {
    const live = await this.#read(node);
    const references = live?.metadata.ownerReferences;
    if (live && references?.some((reference) => reference.blockOwnerDeletion)) {
      const unblocked = references.map((reference) => ({ ...reference, blockOwnerDeletion: false }));
      await this.#patchMetadata(node, live, { ownerReferences: unblocked });
    }
  }

  async #removeFinalizer(node: Node, finalizer: string): Promise<void> {
    const live = await this.#read(node);
    if (!live || !finalizers(live).includes(finalizer)) {
      return;
    }
    const kept = finalizers(live).filter((each) => each !== finalizer);
    await this.#patchMetadata(node, live, { finalizers: kept.length > 0 ? kept : null });
  }

  async #patchMetadata(node: Node, live: ApiObject, change: Record<string, unknown>): Promise<void> {
    const { uid, resourceVersion } = live.metadata;
    const patch = { metadata: { uid, resourceVersion, ...change } };
    await this.#tolerateGone(() =>
      this.#context.client.patch(this.#address(node), 'merge', JSON.parse(JSON.stringify(patch))),
    );
  }

  async #tolerateGone(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (!(error instanceof ApiError && error.status.code === 404)) {
        throw error;
      }
    }
  }
}
