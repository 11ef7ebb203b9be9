import { isTree, type Path, type Tree, valueAt } from './tree.ts';

/** The places a path of `values-changes.yaml` means: `{team}` is every team, `name[]` every element of that list. */
export function expandPath(path: string, tree: Tree): Path[] {
  return path.split('.').reduce<string[][]>((places, part) => places.flatMap((place) => next(place, part, tree)), [[]]);
}

function next(place: readonly string[], part: string, tree: Tree): string[][] {
  if (part === '{team}') {
    const teams = valueAt(tree, place);
    return isTree(teams)
      ? Object.keys(teams)
          .sort()
          .map((team) => [...place, team])
      : [];
  }
  if (!part.endsWith('[]')) return [[...place, part]];
  const list = [...place, part.slice(0, -2)];
  const items = valueAt(tree, list);
  return Array.isArray(items) ? items.map((_, index) => [...list, String(index)]) : [];
}
