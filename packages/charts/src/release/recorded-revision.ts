import { noRelease, noRevision } from './missing.ts';
import type { Release } from './release.ts';
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
  if (last === undefined) throw noRelease({ name, namespace });
  const found = revision === 0 ? last : all.find((release) => release.revision === revision);
  if (found === undefined) throw noRevision({ name }, Math.max(revision, 0));
  return found;
}
