import {
  isConflict,
  isForbidden,
  isNamespaceTerminating,
  isNotFound,
  isTransient,
  isUnknownKind,
  KubeError,
} from '@slipway/kube';
import { isAdmissionDenial } from '@slipway/manifests';

import { objectText, type ReleaseObject } from './objects.ts';
import { ReleaseError, textOf } from './release-error.ts';

/** An object the API server would not take as it is, and what to do about it. */
export function refusedObject(each: ReleaseObject, cause: unknown): ReleaseError {
  const text = `${objectText(each)}: ${textOf(cause)}${ownersIn(cause)}`;
  return new ReleaseError('Refused', text, { hint: hintFor(cause), cause });
}

/** Somebody else wrote a field, in contrast to a write that came at the wrong moment. */
export function isOwnershipConflict(error: unknown): boolean {
  return isConflict(error) && ownershipCauses(error).length > 0;
}

/** What the same request may get over without anybody changing anything: a busy server, a lost answer, a quota that is counted. */
export function mayPass(error: unknown): boolean {
  if (isConflict(error)) return !isOwnershipConflict(error);
  // A server that gives no reason could not make sense of a field, such as a map where a text belongs.
  const isPuzzled = error instanceof KubeError && error.code === 500 && error.status?.reason === undefined;
  return isTransient(error) && !isPuzzled;
}

function hintFor(error: unknown): string {
  if (isOwnershipConflict(error)) return 'somebody else wrote these fields; take them over with --force-conflicts';
  if (mayPass(error)) return 'the server could not do it just now; try again, and see whether a webhook it names runs';
  if (isNamespaceTerminating(error)) return 'its namespace is being deleted; try again when it is gone';
  if (isUnknownKind(error)) return 'install what brings its definition (CRD) first';
  if (isNotFound(error) && error.details?.kind === 'namespaces')
    return 'make its namespace first; --create-namespace makes that of the release';
  if (isAdmissionDenial(error)) return 'change the object, or what denies it';
  if (isForbidden(error)) return 'the message says what forbids it: a role, a quota or a policy has to allow it';
  return 'the chart or its values have to be corrected';
}

/** Of a Secret the server's own words are left out, but not whose its fields are. */
function ownersIn(error: unknown): string {
  const text = textOf(error);
  const owners = ownershipCauses(error).flatMap(({ message = '' }) => (text.includes(message) ? [] : [message]));
  return owners.length === 0 ? '' : `: ${[...new Set(owners)].join(', ')}`;
}

function ownershipCauses(error: unknown) {
  const causes = error instanceof KubeError ? (error.details?.causes ?? []) : [];
  return causes.filter(({ reason }) => reason === 'FieldManagerConflict');
}
