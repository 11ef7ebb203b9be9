import type { CacheEvent, Kind, ObjectKey } from '@slipway/kube';
import { refKey } from '@slipway/manifests';

import { operandMembership } from './reconcile.ts';

interface Known {
  readonly key: ObjectKey;
  /** Members that changed since the last pass, by `refKey`. */
  changed: Set<string>;
  /** When everything was looked at last; `undefined` when that is due. */
  fullPassAt: number | undefined;
}

/**
 * Which members of which Operands have changed since they were looked at, so that one changed object out of a thousand costs
 * one read and one write. Only a saving: whenever in doubt, everything is looked at.
 */
export class MemberChanges {
  readonly #byLabel = new Map<string, Known>();

  /** Notes a change and returns the Operands it concerns. */
  note(event: CacheEvent, kind: Kind): ObjectKey[] {
    const member = refKey({
      group: kind.group,
      kind: kind.kind,
      namespace: event.key.namespace ?? '',
      name: event.key.name,
    });
    const owners: ObjectKey[] = [];
    for (const label of Object.keys(event.meta.labels ?? {})) {
      const known = this.#byLabel.get(label);
      if (!known) continue;
      known.changed.add(member);
      owners.push(known.key);
    }
    return owners;
  }

  /** The members to look at now; `undefined` when it is time to look at all of them. */
  take(key: ObjectKey, now: number, fullEveryMs: number): ReadonlySet<string> | undefined {
    const { label } = operandMembership(key.name);
    const known = this.#byLabel.get(label) ?? { key, changed: new Set<string>(), fullPassAt: undefined };
    this.#byLabel.set(label, known);
    const { changed, fullPassAt } = known;
    known.changed = new Set();
    if (changed.size > 0 && fullPassAt !== undefined && now - fullPassAt < fullEveryMs) return changed;
    known.fullPassAt = now;
    return undefined;
  }

  /** A pass failed: what it was to look at is unknown again. */
  lost(key: ObjectKey): void {
    const known = this.#byLabel.get(operandMembership(key.name).label);
    if (known) known.fullPassAt = undefined;
  }

  forget(key: ObjectKey): void {
    this.#byLabel.delete(operandMembership(key.name).label);
  }
}
