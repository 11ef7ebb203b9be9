import { errorText } from '../chart/error-text.ts';

/**
 * Why a release cannot be worked on:
 * - `InUse`: a release of that name is there already;
 * - `NotFound`: there is none, or not that revision;
 * - `Busy`: somebody else works on it;
 * - `Foreign`: an object it needs belongs to somebody else;
 * - `TooLarge`: its record does not fit into a Secret;
 * - `Damaged`: its record cannot be read;
 * - `TimedOut`: something did not become ready in time;
 * - `HookFailed`: a hook did not succeed;
 * - `Interrupted`: whoever asked for it gave up;
 * - `Refused`: the API server said no.
 */
export type ReleaseErrorCode =
  | 'InUse'
  | 'NotFound'
  | 'Busy'
  | 'Foreign'
  | 'TooLarge'
  | 'Damaged'
  | 'TimedOut'
  | 'HookFailed'
  | 'Interrupted'
  | 'Refused';

/** A release could not be installed, changed or removed. */
export class ReleaseError extends Error {
  readonly code: ReleaseErrorCode;
  /** What to do next; empty where the message says it. */
  readonly hint: string;

  constructor(
    code: ReleaseErrorCode,
    message: string,
    options: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super(errorText(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ReleaseError';
    this.code = code;
    this.hint = options.hint ?? '';
  }
}

/** What an error says. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
