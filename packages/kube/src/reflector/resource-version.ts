/**
 * A resource version as the cache keeps it: a number when its text is a plain decimal that a double holds exactly (always,
 * in practice), else the text. Two versions are the same when they are `===`.
 */
export type Version = number | string;

/** Longest run of digits that always fits a double. */
const exactDigits = 15;

export function parseVersion(text: string): Version {
  return text.length <= exactDigits && /^[1-9][0-9]*$/.test(text) ? Number(text) : text;
}

/** The version in the bytes between two quotes. */
export function versionAt(bytes: Buffer, start: number, end: number): Version {
  const length = end - start;
  if (length === 0 || length > exactDigits || bytes[start] === 0x30) return bytes.toString('latin1', start, end);
  let value = 0;
  for (let i = start; i < end; i += 1) {
    const digit = bytes[i]! - 0x30;
    if (digit < 0 || digit > 9) return bytes.toString('latin1', start, end);
    value = value * 10 + digit;
  }
  return value;
}

/** Whether `a` is `b` or came after it; `undefined` when they cannot be compared. */
export function isAtLeast(a: Version, b: Version): boolean | undefined {
  if (a === b) return true;
  if (typeof a === 'number' && typeof b === 'number') return a > b;
  const left = String(a);
  const right = String(b);
  if (!/^[0-9]+$/.test(left) || !/^[0-9]+$/.test(right)) return undefined;
  return BigInt(left) >= BigInt(right);
}
