import type { JsonPatchOperation } from '@slipway/kube';

/** The operations that turn `before` into `after`, small where objects and lists changed little. */
export function jsonPatchBetween(before: unknown, after: unknown): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  compare(before, after, '', operations);
  return operations;
}

type Tree = { readonly [name: string]: unknown };

function compare(before: unknown, after: unknown, path: string, operations: JsonPatchOperation[]): void {
  if (Object.is(before, after)) return;
  if (isTree(before) && isTree(after)) compareTrees(before, after, path, operations);
  else if (Array.isArray(before) && Array.isArray(after)) compareLists(before, after, path, operations);
  else if (before !== after) operations.push({ op: 'replace', path, value: after });
}

function compareTrees(before: Tree, after: Tree, path: string, operations: JsonPatchOperation[]): void {
  for (const name of Object.keys(before)) {
    if (after[name] === undefined) operations.push({ op: 'remove', path: `${path}/${escaped(name)}` });
  }
  for (const [name, value] of Object.entries(after)) {
    // JSON has no undefined: a field set to it is a field removed.
    if (value === undefined) continue;
    const at = `${path}/${escaped(name)}`;
    if (before[name] === undefined) operations.push({ op: 'add', path: at, value });
    else compare(before[name], value, at, operations);
  }
}

/** Equal beginnings and ends stay; what is between is compared in place, then cut or added at its end. */
function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
  operations: JsonPatchOperation[],
): void {
  let start = 0;
  while (start < before.length && start < after.length && same(before[start], after[start])) start += 1;
  let tail = 0;
  while (
    tail < before.length - start &&
    tail < after.length - start &&
    same(before[before.length - 1 - tail], after[after.length - 1 - tail])
  ) {
    tail += 1;
  }
  const beforeEnd = before.length - tail;
  const afterEnd = after.length - tail;
  const shared = Math.min(beforeEnd, afterEnd);
  for (let index = start; index < shared; index += 1)
    compare(before[index], after[index], `${path}/${index}`, operations);
  for (let index = beforeEnd - 1; index >= shared; index -= 1)
    operations.push({ op: 'remove', path: `${path}/${index}` });
  for (let index = shared; index < afterEnd; index += 1) {
    operations.push({ op: 'add', path: `${path}/${index}`, value: after[index] });
  }
}

function same(a: unknown, b: unknown): boolean {
  const operations: JsonPatchOperation[] = [];
  compare(a, b, '', operations);
  return operations.length === 0;
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
