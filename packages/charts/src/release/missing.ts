import type { Release } from './release.ts';
import { ReleaseError } from './release-error.ts';

type Named = Pick<Release, 'name' | 'namespace'>;

/** Nothing is recorded under that name. */
export function noRelease({ name, namespace }: Named): ReleaseError {
  return new ReleaseError('NotFound', `there is no release ${name} in namespace ${namespace}`, {
    hint: 'slipway chart list -A shows all',
  });
}

/** There is a release, but not that revision of it. */
export function noRevision({ name }: Pick<Named, 'name'>, revision: number): ReleaseError {
  return new ReleaseError('NotFound', `release ${name} has no revision ${revision}`, {
    hint: 'slipway chart history shows the revisions',
  });
}

/** There is nothing an upgrade could start from. */
export function neverDeployed({ name, namespace }: Named): ReleaseError {
  return new ReleaseError('NotFound', `release ${name} in namespace ${namespace} has no deployed releases`, {
    hint: 'install it, or use upgrade --install',
  });
}
