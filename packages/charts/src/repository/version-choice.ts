import { parseConstraint, type SemverConstraint } from '../functions/semver-constraint.ts';
import { SemverVersion } from '../functions/semver-version.ts';
import { RepositoryError } from './repository-error.ts';

/** The newest versions first; what is no version comes to nothing. */
export function newestFirst<T>(items: readonly T[], versionOf: (item: T) => string): T[] {
  return items
    .flatMap((item) => {
      const version = tryVersion(versionOf(item));
      return version ? [{ item, version }] : [];
    })
    .sort((a, b) => b.version.compare(a.version))
    .map(({ item }) => item);
}

/**
 * The one Helm would take: the version as it is written, else the newest that satisfies it as a range. Nothing asked for means
 * the newest that is no pre-release. `sorted` has the newest first.
 */
export function choose<T>(sorted: readonly T[], versionOf: (item: T) => string, wanted: string): T | undefined {
  const range = wantedRange(wanted);
  const exact = wanted === '' ? undefined : sorted.find((item) => versionOf(item) === wanted);
  return exact ?? sorted.find((item) => range.check(SemverVersion.parse(versionOf(item))));
}

/** A range as somebody wrote it. */
export function wantedRange(wanted: string): SemverConstraint {
  try {
    return parseConstraint(wanted === '' ? '*' : wanted);
  } catch (cause) {
    throw new RepositoryError('InvalidReference', `"${wanted}" is neither a version nor a range of versions`, {
      cause,
      hint: 'write 1.2.3, ~1.2, ^1 or ">=1.2, <3"',
    });
  }
}

/** A version, if only a part of one such as `1.2`: a registry is asked for it as it stands. */
export function isVersion(text: string): boolean {
  return tryVersion(text) !== undefined;
}

/** `1.2.3`, whole. */
export function isExactVersion(text: string): boolean {
  try {
    SemverVersion.parseStrict(text);
    return true;
  } catch {
    return false;
  }
}

function tryVersion(text: string): SemverVersion | undefined {
  try {
    return SemverVersion.parse(text);
  } catch {
    return undefined;
  }
}
