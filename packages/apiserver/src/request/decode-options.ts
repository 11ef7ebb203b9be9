import { badRequest } from '../api-error.ts';
import type { JsonObject } from '../object.ts';
import type { ResourceRequest } from './core.ts';

/** An options object in the body of a DELETE; undefined when there is no body. */
export async function decodeOptions(request: ResourceRequest, kind: string): Promise<JsonObject | undefined> {
  if (!request.body?.length) return undefined;
  try {
    return JSON.parse(Buffer.from(request.body).toString()) as JsonObject;
  } catch {
    throw badRequest(`invalid ${kind}`);
  }
}
