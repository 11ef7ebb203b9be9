import { dryRunDescription } from '../release/dry-run.ts';
import type { Release } from '../release/release.ts';
import { recordText, releaseRecord, releaseText } from './release-text.ts';

/** What is printed of a release that was installed or upgraded, in the format that was asked for. */
export function appliedText(
  release: Release,
  flags: { readonly output: 'table' | 'json' | 'yaml'; readonly 'hide-notes': boolean },
): string {
  if (flags.output === 'table') return releaseText(release, { hideNotes: flags['hide-notes'] });
  // Whoever asks for a dry run wants to see what would be applied.
  const planned = release.description === dryRunDescription ? { manifest: release.manifest } : {};
  return recordText({ ...releaseRecord(release), ...planned }, flags.output);
}
