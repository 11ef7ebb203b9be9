import { gunzipSync, gzipSync } from 'node:zlib';
import { parseJson } from '@slipway/kube';

/** What packed data may be unpacked, in bytes: a few kilobytes of zeros packed must not fill the memory. */
const largest = 64 * 1024 * 1024;

/** Data the operator keeps packed is not what it wrote. */
export class PackedDataError extends Error {
  constructor(place: string, problem: string, cause: unknown) {
    super(`${place} ${problem}. Somebody else wrote it; take it away, and what it held is forgotten`, { cause });
    this.name = 'PackedDataError';
  }
}

export function pack(value: unknown): Buffer {
  return gzipSync(JSON.stringify(value));
}

/** What was packed at `place`, which an error names. At most `limit` bytes; default 64 MiB. */
export function unpack(bytes: Uint8Array, place: string, limit = largest): unknown {
  try {
    return parseJson(gunzipSync(bytes, { maxOutputLength: limit }).toString('utf8'));
  } catch (error) {
    const tooLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new PackedDataError(place, tooLong ? `unpacks to more than ${limit} bytes` : 'cannot be unpacked', error);
  }
}
