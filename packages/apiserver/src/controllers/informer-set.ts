import type { Clock } from '../clock.ts';
import type { CollectionAddress, LocalClient, ServedResource } from '../local-client.ts';
import type { ApiObject } from '../object.ts';
import type { Change } from './informer.ts';
import { Informer } from './informer.ts';

export type AnyChangeListener = (resource: ServedResource, change: Change) => void;

interface Member {
  readonly resource: ServedResource;
  readonly informer: Informer;
}

/** Events come and go in numbers, own nothing and are owned by nothing. */
function isWorthFollowing(resource: ServedResource): boolean {
  return (
    ['list', 'watch', 'delete'].every((verb) => resource.verbs.includes(verb)) &&
    !(resource.plural === 'events' && (resource.group === '' || resource.group === 'events.k8s.io'))
  );
}

/** One informer per stored resource, shared by all controllers. */
export class InformerSet {
  readonly #client: LocalClient;
  readonly #clock: Clock;
  readonly #members = new Map<string, Member>();
  readonly #anyListeners = new Set<AnyChangeListener>();
  #stopListening: (() => void) | undefined;
  #stopped = false;

  constructor(client: LocalClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** The informer of a built-in resource; started on first use. */
  of(group: string, version: string, plural: string): Informer {
    const storageId = group ? `${plural}.${group}` : plural;
    const known = this.#members.get(storageId);
    if (known) {
      return known.informer;
    }
    const resource = this.#client
      .resources()
      .find((served) => served.group === group && served.version === version && served.plural === plural);
    if (!resource) {
      throw new Error(`the server does not serve ${plural} in ${group || 'the core group'}/${version}`);
    }
    return this.#start(resource).informer;
  }

  /** Tells the informer of a resource the answer to a write, so that a controller sees its own writes at once. */
  observe(address: CollectionAddress, object: ApiObject): void {
    const member = this.#members.get(address.group ? `${address.plural}.${address.group}` : address.plural);
    if (member?.resource.version === address.version && object.metadata?.uid && object.metadata.resourceVersion) {
      member.informer.observe(object);
    }
  }

  /** Calls `listener` for every known object and every change of every deletable resource, also of CRDs created later. */
  subscribeToAll(listener: AnyChangeListener): () => void {
    this.#anyListeners.add(listener);
    for (const { resource, informer } of this.#members.values()) {
      for (const object of informer.list()) {
        listener(resource, { object, previous: undefined, deleted: false });
      }
    }
    this.#followAll();
    return () => this.#anyListeners.delete(listener);
  }

  /** The resources followed at the moment. */
  resources(): ServedResource[] {
    return [...this.#members.values()].map((member) => member.resource);
  }

  /** Resolves when no informer waits for the answer to its first list. */
  async synced(): Promise<void> {
    for (;;) {
      const waiting = [...this.#members.values()].filter((member) => !member.informer.isSynced);
      if (waiting.length === 0 || this.#stopped) {
        return;
      }
      await Promise.all(waiting.map((member) => member.informer.synced()));
      if (waiting.every((member) => !member.informer.isSynced)) {
        // Only informers whose list fails are left: they try again on their own.
        return;
      }
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#stopListening?.();
    for (const { informer } of this.#members.values()) {
      informer.stop();
    }
    this.#members.clear();
    this.#anyListeners.clear();
  }

  #followAll(): void {
    if (this.#stopListening || this.#stopped) {
      return;
    }
    this.#stopListening = this.#client.onResourcesChanged(() => this.#reconcile());
    this.#reconcile();
  }

  #reconcile(): void {
    const served = new Map<string, ServedResource>();
    for (const resource of this.#client.resources()) {
      if (isWorthFollowing(resource) && !served.has(resource.storageId)) {
        served.set(resource.storageId, resource);
      }
    }
    const stillServed = new Set(
      this.#client.resources().map((resource) => `${resource.storageId} ${resource.version}`),
    );
    for (const [storageId, member] of Array.from(this.#members)) {
      if (!stillServed.has(`${storageId} ${member.resource.version}`)) {
        this.#members.delete(storageId);
        // Another version may have taken over; then the objects are not gone.
        member.informer.stop({ forget: !served.has(storageId) });
      }
    }
    for (const [storageId, resource] of served) {
      if (!this.#members.has(storageId)) {
        this.#start(resource);
      }
    }
  }

  #start(resource: ServedResource): Member {
    const { group, version, plural } = resource;
    const member = { resource, informer: new Informer(this.#client, { group, version, plural }, this.#clock) };
    this.#members.set(resource.storageId, member);
    member.informer.subscribe((change) => {
      for (const listener of Array.from(this.#anyListeners)) {
        listener(resource, change);
      }
    });
    return member;
  }
}
