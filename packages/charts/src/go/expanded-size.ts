import { GoObject, type Value } from './values.ts';

/** Values one value may stand for. The largest charts have some ten thousand. */
const most = 5_000_000;
/** Up to here it is counted without a memory of what was counted: nearly all values are smaller. */
const countedPlainly = 10_000;
/** Whoever walks deeper than this says so in words of its own. */
const deepest = 1000;

/**
 * Refuses a value that is small only because it shares its parts: sixty maps, each holding the one before twice, stand for more
 * values than anyone can write, print, copy or compare.
 */
export function checkExpandedSize(value: Value): void {
  if (typeof value !== 'object' || value === null) return;
  if (countUpTo(value, countedPlainly, 0) >= 0) return;
  if (expandedSize(value, new Map()) > most) throw new Error(`the value stands for more than ${most} values`);
}

/** What is left of a budget. */
function countUpTo(value: Value, budget: number, depth: number): number {
  let left = budget - 1;
  if (depth > deepest) return left;
  for (const part of partsOf(value)) {
    if (left < 0) return left;
    left = countUpTo(part, left, depth + 1);
  }
  return left;
}

/** What is part of itself has no end. */
function expandedSize(value: Value, known: Map<Value, number>, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > deepest) return 1;
  const before = known.get(value);
  if (before !== undefined) return before;
  known.set(value, Infinity);
  let size = 1;
  for (const part of partsOf(value)) size += expandedSize(part, known, depth + 1);
  known.set(value, size);
  return size;
}

function partsOf(value: Value): Iterable<Value> {
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return value.values();
  return value instanceof GoObject && value.goKind === 'map' ? partsOf(value.contents()) : [];
}
