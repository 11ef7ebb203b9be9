import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** The system's own source of bytes that nobody can foresee. */
const systemSource = '/dev/urandom';

/**
 * Bytes that nobody can foresee. Passwords in charts are short, and read from the system itself they are there before Node has loaded its
 * cryptography; where the system has no such file, Node's is asked.
 */
export function secureBytes(size: number): Uint8Array {
  return readSystem(size) ?? askNode(size);
}

/** As many as are answered at once. */
const mostAtOnce = 65_536;

export function askNode(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let start = 0; start < size; start += mostAtOnce)
    crypto.getRandomValues(bytes.subarray(start, start + mostAtOnce));
  return bytes;
}

function readSystem(size: number): Uint8Array | undefined {
  let file: number | undefined;
  try {
    file = openSync(systemSource, 'r');
    // A file somebody put there would have the same bytes each time.
    if (!fstatSync(file).isCharacterDevice()) return undefined;
    const bytes = new Uint8Array(size);
    return readSync(file, bytes) === size ? bytes : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
