/**
 * Why the cache refuses a call:
 * - `Undeclared`: nobody declared the kind;
 * - `OutOfScope`: the kind is cached, but not for what was asked;
 * - `NotStarted`, `NotLoaded`: there is nothing to read yet;
 * - `ScopeConflict`: the kind was declared before in another way;
 * - `UnknownIndex`: no index of that name was declared;
 * - `Undecodable`: the server sent an object that is not JSON;
 * - `Stopped`: the cache has been stopped.
 */
export type CacheErrorCode =
  | 'Undeclared'
  | 'OutOfScope'
  | 'NotStarted'
  | 'NotLoaded'
  | 'ScopeConflict'
  | 'UnknownIndex'
  | 'Undecodable'
  | 'Stopped';

export class CacheError extends Error {
  override readonly name = 'CacheError';
  readonly code: CacheErrorCode;

  constructor(code: CacheErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
