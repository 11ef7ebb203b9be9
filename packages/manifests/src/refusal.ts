import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isTransient,
  isUnknownKind,
  KubeError,
  type Client,
  type KubeObject,
} from '@slipway/kube';

import { refText, type ObjectRef } from './identity.ts';
import type { MemberResult } from './member-result.ts';

/**
 * What a server's refusal means for a member of a set. Everything here is decided on the code, the reason and the details of
 * the answer; its text is for people.
 */
export function refusedMember(ref: ObjectRef, error: unknown, fields: Partial<MemberResult> = {}): MemberResult {
  return { ref, action: 'failed', message: refusalText(error), retriable: mayPass(error), error, ...fields };
}

/** The same request may succeed later without anybody changing anything. A kind that was found and is not served is about to be, or about to go. */
function mayPass(error: unknown): boolean {
  return isConflict(error) || isTransient(error) || isUnknownKind(error);
}

/** The server itself, or something it asks on the way (a webhook, an aggregated API), could not answer. */
export function isServerFault(error: unknown): boolean {
  return isTransient(error) && error.code >= 500;
}

/**
 * An admission webhook or policy said no. A webhook's answer names no object; a policy's does, and has a cause that is about no
 * field. Missing rights and broken rules of the kind are told apart by these.
 */
export function isAdmissionDenial(error: unknown): boolean {
  if (!(error instanceof KubeError) || !error.status) return false;
  const { status, details } = error;
  switch (error.code) {
    case 400:
      return status.reason === undefined;
    case 403:
      return details?.kind === undefined;
    case 422:
      return details?.causes?.some((cause) => !cause.field && !cause.reason) ?? false;
    default:
      return false;
  }
}

/**
 * Whether a change was refused for what it changes rather than for what the object is: the server would take the same object as
 * a new one. It says so when asked to create it: "exists already" comes after all other checks.
 */
export async function isRefusedAsChange(
  error: unknown,
  config: KubeObject,
  client: Client,
  options: { fieldManager: string; signal?: AbortSignal },
): Promise<boolean> {
  if (!isInvalid(error)) return false;
  try {
    await client.create(config, { ...options, dryRun: true });
    return true;
  } catch (refusal) {
    options.signal?.throwIfAborted();
    return isAlreadyExists(refusal);
  }
}

/** What the server said, with a hint where the plain text does not say what to do. */
export function refusalText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const hint = hintFor(error);
  return hint === undefined ? error.message : `${error.message}; ${hint}`;
}

function hintFor(error: Error): string | undefined {
  if (isNotFound(error) && error.details?.kind === 'namespaces')
    return 'add the Namespace to the set or create it first';
  if (isConflict(error)) return 'it will be tried again';
  if (isServerFault(error)) return 'if a webhook is named, see whether its service runs; it will be tried again';
  if (isAdmissionDenial(error)) return 'change the object, or what denies it';
  if (isForbidden(error)) return 'allow it with a role, or take the object out of the set';
  return undefined;
}

/** How a failed member is named in a condition. */
export function failureText(result: MemberResult): string {
  return `${refText(result.ref)}: ${result.message ?? 'failed'}`;
}
