import { dirname, join, relative, sep } from 'node:path';

/** An import inside a package, both ends as paths below its `src`. */
export interface InnerImport {
  readonly from: string;
  readonly to: string;
}

/** The import `target` in the file `path`, seen from `src`; `undefined` when either end lies outside. */
export function innerImport(src: string, path: string, target: string): InnerImport | undefined {
  const from = relative(src, path);
  const to = relative(src, join(dirname(path), target));
  return from.startsWith('..') || to.startsWith('..') ? undefined : { from, to };
}

/** Every two folders that import each other, directly or by way of others, with one import of each step as evidence. */
export function mutualFolders(imports: readonly InnerImport[]): string[] {
  const steps = new Map<string, Map<string, InnerImport>>();
  for (const each of imports) {
    const [from, to] = [folderOf(each.from), folderOf(each.to)];
    if (from === '' || to === '' || from === to) continue;
    const targets = steps.get(from) ?? new Map<string, InnerImport>();
    if (!targets.has(to)) targets.set(to, each);
    steps.set(from, targets);
  }
  const problems: string[] = [];
  for (const start of [...steps.keys()].toSorted()) {
    const way = wayBack(steps, start);
    // A circle is told once, at the folder that sorts first.
    if (way && way.every(({ from }) => folderOf(from) >= start)) {
      const evidence = way.map(({ from, to }) => `${from} imports ${to}`).join(', ');
      problems.push(`folders must not import each other: ${evidence}`);
    }
  }
  return problems;
}

/** The first folder of a path: files at the top of a package belong to none. */
function folderOf(path: string): string {
  const end = path.indexOf(sep);
  return end < 0 ? '' : path.slice(0, end);
}

function wayBack(
  steps: ReadonlyMap<string, ReadonlyMap<string, InnerImport>>,
  start: string,
): InnerImport[] | undefined {
  const ways: { folder: string; way: InnerImport[] }[] = [{ folder: start, way: [] }];
  const seen = new Set<string>();
  for (let next = ways.shift(); next; next = ways.shift()) {
    for (const [to, evidence] of steps.get(next.folder) ?? []) {
      const way = [...next.way, evidence];
      if (to === start) return way;
      if (seen.has(to)) continue;
      seen.add(to);
      ways.push({ folder: to, way });
    }
  }
  return undefined;
}
