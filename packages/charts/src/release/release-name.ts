import { ReleaseError } from './release-error.ts';

/** As Helm has them: they become part of the names of Secrets and objects. */
const mostCharacters = 53;
const form = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** Refuses names under which Helm would not find a release. */
export function checkReleaseName(name: string): void {
  if (name.length <= mostCharacters && form.test(name)) return;
  throw new ReleaseError(
    'Refused',
    `'${name}' cannot be the name of a release: it takes at most ${mostCharacters} small letters, digits, dashes and dots, and begins and ends with a letter or digit`,
  );
}
