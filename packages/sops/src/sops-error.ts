/**
 * What went wrong, for programs:
 * - `input`: the plain file cannot be read in its format, or holds what SOPS cannot carry
 * - `not-encrypted`, `already-encrypted`: the file is not in the state the call needs
 * - `metadata`: the `sops` block is damaged
 * - `no-key`: none of the identities opens the file
 * - `tampered`: a value or the MAC does not fit what was signed
 * - `config`: `.sops.yaml`, the recipients, a path or a value that was given are wrong
 * - `not-found`: there is nothing at a path
 * - `unsupported`: SOPS can, this package cannot
 */
export type SopsErrorCode =
  | 'input'
  | 'not-encrypted'
  | 'already-encrypted'
  | 'metadata'
  | 'no-key'
  | 'tampered'
  | 'config'
  | 'not-found'
  | 'unsupported';

/** A SOPS file that cannot be used, or not as asked. Its text never holds a value of the file. */
export class SopsError extends Error {
  readonly code: SopsErrorCode;
  /** What to do next; empty where the message says it. */
  readonly hint: string;

  constructor(
    code: SopsErrorCode,
    message: string,
    options: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SopsError';
    this.code = code;
    this.hint = options.hint ?? '';
  }
}
