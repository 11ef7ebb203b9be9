import { OperatorError } from '../operator-error.ts';

/** Compares versions as `1.2.3`; a leading `v` and everything behind the third number do not count. */
export function compareVersions(a: string, b: string): number {
  const left = numbersOf(a);
  const right = numbersOf(b);
  for (const index of [0, 1, 2] as const) {
    if (left[index] !== right[index]) return left[index] - right[index];
  }
  return 0;
}

function numbersOf(version: string): [number, number, number] {
  const found = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(version);
  if (!found) throw new OperatorError('InvalidVersion', `'${version}' is no version; write something like 1.2.3`);
  return [Number(found[1]), Number(found[2] ?? 0), Number(found[3] ?? 0)];
}
