/** Values of a platform: plain data, as YAML gives it. */
export type Tree = Record<string, unknown>;

export type Path = readonly string[];

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function valueAt(tree: unknown, path: Path): unknown {
  let at = tree;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Tree)[key];
  }
  return at;
}

/** Sets a value, making the maps on the way. Only for data of our own: keys that would reach a prototype are refused. */
export function setAt(tree: Tree, path: Path, value: unknown): void {
  let at: Tree = tree;
  for (const key of path.slice(0, -1)) {
    refuseMagic(key);
    const next = Object.hasOwn(at, key) ? at[key] : undefined;
    if (typeof next !== 'object' || next === null) at[key] = {};
    at = at[key] as Tree;
  }
  const last = path.at(-1)!;
  refuseMagic(last);
  at[last] = value;
}

/** Removes a value. An element of a list leaves no hole. */
export function unsetAt(tree: Tree, path: Path): void {
  const parent = valueAt(tree, path.slice(0, -1));
  const last = path.at(-1)!;
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else if (isTree(parent)) delete parent[last];
}

/** `over` on top of `base`: maps are merged, everything else replaces. Neither is changed. */
export function merge(base: Tree, ...over: readonly Tree[]): Tree {
  const result: Tree = { ...base };
  for (const layer of over) {
    for (const [key, value] of Object.entries(layer)) {
      refuseMagic(key);
      if (value === undefined) continue;
      const present = result[key];
      result[key] = isTree(present) && isTree(value) ? merge(present, value) : structuredClone(value);
    }
  }
  return result;
}

function refuseMagic(key: string): void {
  if (key === '__proto__') throw new TypeError('a key cannot be called __proto__');
}

/** Whether nothing is in it: an empty text, list or map. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isTree(value) && Object.keys(value).length === 0;
}
