import type { CacheEvent, Kind } from '@slipway/kube';
import { mayPrune, refKey, type ObjectRef } from '@slipway/manifests';

/** In place of owners, for a member that is never owned. */
const unowned = '-';

/** Who owns which member, as the watches tell: a set of a thousand members is found in order without asking the server for them. */
export class OwnedMembers {
  /** Uids of the owners, joined, by `refKey`. */
  readonly #owners = new Map<string, string>();

  note(event: CacheEvent, kind: Kind): void {
    const { namespace = '', name } = event.key;
    const key = refKey({ group: kind.group, kind: kind.kind, namespace, name });
    if (event.type === 'deleted' || event.meta.deletionTimestamp !== undefined) {
      this.#owners.delete(key);
      return;
    }
    const object = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: event.meta };
    const owners = (event.meta.ownerReferences ?? []).map((reference) => reference.uid).join();
    this.#owners.set(key, mayPrune(object) ? owners : unowned);
  }

  /** Whether the member exists and has this owner, if it is to have one. A `false` may be due to a watch that lags behind. */
  isOwned(ref: ObjectRef, ownerUid: string): boolean {
    const owners = this.#owners.get(refKey(ref));
    return owners !== undefined && (owners === unowned || owners.includes(ownerUid));
  }
}
