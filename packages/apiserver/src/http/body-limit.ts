import { ApiError } from '../api-error.ts';

/** Bytes a request body may have. */
export const bodyLimit = 3 * 1024 * 1024;

export function tooLarge(): ApiError {
  return new ApiError(
    {
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: `Request entity too large: limit is ${bodyLimit}`,
    },
    { 'cache-control': 'no-cache, private' },
  );
}
