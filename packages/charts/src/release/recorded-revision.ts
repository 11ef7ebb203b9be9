import type { Release } from './release.ts';
import { ReleaseError } from './release-error.ts';
import type { ReleaseStorage } from './storage.ts';

/** A revision of a release as it is recorded; without a number, or with 0, the last one. */
export async function recordedRevision(
  storage: ReleaseStorage,
  {
    name,
    namespace,
    revision = 0,
  }: { readonly name: string; readonly namespace: string; readonly revision?: number | undefined },
): Promise<Release> {
  const all = (await storage.history(namespace, name)).map(({ release }) => release);
  const last = all.at(-1);
  if (last === undefined)
    throw new ReleaseError('NotFound', `there is no release ${name} in namespace ${namespace}`, {
      hint: 'slipway chart list -A shows all',
    });
  const found = revision === 0 ? last : all.find((release) => release.revision === revision);
  if (found === undefined)
    throw new ReleaseError('NotFound', `release ${name} has no revision ${Math.max(revision, 0)}`, {
      hint: 'slipway chart history shows the revisions',
    });
  return found;
}
