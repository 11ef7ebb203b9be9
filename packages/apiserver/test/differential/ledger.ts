import type { Difference } from './compare.ts';

/** A difference that is known and accepted. */
export interface LedgerEntry {
  readonly case: string;
  readonly step: string;
  /** The path that differs, or one above it. */
  readonly path: string;
  readonly reason: string;
}

export const ledger: readonly LedgerEntry[] = [];

export function isAccepted(entry: LedgerEntry, difference: Difference): boolean {
  return (
    entry.case === difference.case &&
    entry.step === difference.step &&
    (difference.path === entry.path || difference.path.startsWith(`${entry.path}.`))
  );
}
