import { compareRefs, refKey, type ObjectRef } from './identity.ts';

/** A member that was applied: what it is and which incarnation of it. */
export interface InventoryEntry extends ObjectRef {
  /** The object's uid when it was applied; pruning deletes only that incarnation. */
  readonly uid?: string;
}

/** Everything a set has put on a cluster, sorted by identity. */
export type Inventory = readonly InventoryEntry[];

/** The entries of `before` that are not in `after`: what is to be pruned. */
export function leftOver(before: Inventory, after: readonly ObjectRef[]): InventoryEntry[] {
  const kept = new Set(after.map(refKey));
  return before.filter((entry) => !kept.has(refKey(entry)));
}

/** Both inventories as one; where both know an object, the later knows its uid. */
export function mergeInventories(earlier: Inventory, later: Inventory): InventoryEntry[] {
  const merged = new Map<string, InventoryEntry>();
  for (const entry of [...earlier, ...later]) {
    const known = merged.get(refKey(entry));
    merged.set(refKey(entry), entry.uid === undefined && known?.uid !== undefined ? known : entry);
  }
  return [...merged.values()].sort(compareRefs);
}
