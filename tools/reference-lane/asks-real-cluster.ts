import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** How a file's text is read; undefined where there is none. */
export type ReadText = (path: string) => string | undefined;

const readFile: ReadText = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);

/** What the test kit has for tests without a cluster. */
const clusterFree = new Set(['VirtualClock', 'SeededRandom', 'skipped']);

/** What leads to a real cluster or an oracle: the variable of the lane, and the packages that start them. */
const leadsThere = /SLIPWAY_CLUSTER|'@slipway\/(?:reference-cluster|oracles)'/;

/**
 * Whether a test file may ask a real cluster or an oracle, by what it and the files it imports by path name. A file that does not behaves the same in the
 * reference lane as in `npm test`, and is left to that.
 */
export function asksRealCluster(testFile: string, read: ReadText = readFile): boolean {
  const reached = new Set([testFile]);
  for (const path of reached) {
    const text = read(path);
    if (text === undefined) continue;
    if (leadsThere.test(text) || usesCluster(text)) return true;
    for (const [, target = ''] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
      reached.add(join(dirname(path), target));
    }
  }
  return false;
}

/** Whether the text takes something of the kit that may start a cluster; anything but a list of names might. */
function usesCluster(text: string): boolean {
  return [...text.matchAll(/(\{[^{}]*\})?\s*(?:from|import)\s*\(?\s*'@slipway\/testing'/g)].some(([, list]) => {
    if (list === undefined) return true;
    const names = list.slice(1, -1).split(',');
    return names.some((name) => name.trim() !== '' && !clusterFree.has(name.trim().replace(/^type /, '')));
  });
}
