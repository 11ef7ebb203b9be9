import type { IntOrPercent } from './kinds.ts';

/** Resolves `3` or `"25%"` against a total. */
export function resolvePercent(value: IntOrPercent | undefined, total: number, round: 'up' | 'down'): number {
  if (value === undefined) {
    return 0;
  }
  if (typeof value === 'number') {
    return value;
  }
  const share = (Number.parseInt(value, 10) * total) / 100;
  return round === 'up' ? Math.ceil(share) : Math.floor(share);
}
