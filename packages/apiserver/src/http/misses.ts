import { ApiError } from '../api-error.ts';
import type { ApiResponse } from '../server.ts';

/** No such group or path: the answer of Go's own router, not of the API. */
export function pathNotFound(): ApiResponse {
  return {
    status: 404,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: Buffer.from('404 page not found\n'),
  };
}

/** The group exists, but not this version or resource. */
export function resourceNotFound(): ApiError {
  return new ApiError({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });
}

export function methodNotAllowed(): ApiError {
  return new ApiError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });
}

/** Known, but not built: said out loud instead of pretending. */
export function notImplemented(what: string): ApiError {
  return new ApiError({
    code: 501,
    reason: 'NotImplemented',
    message: `${what} is not implemented by the embedded API server`,
  });
}
