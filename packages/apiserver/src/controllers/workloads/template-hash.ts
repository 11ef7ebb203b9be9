const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** JSON with sorted keys: equal values give equal texts. */
export function stableJson(value: unknown): string {
  if (value === null || typeof value !== 'object') {
    return JSON.stringify(value) ?? 'null';
  }
  if (Array.isArray(value)) {
    return `[${value.map(stableJson).join(',')}]`;
  }
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${stableJson(item)}`).join(',')}}`;
}

/**
 * A short name for a pod template. The real one is the FNV hash of a Go memory dump and cannot be reproduced; this one has the
 * same alphabet and length and the same use: equal templates give equal names. `collisions` makes a different one when taken.
 */
export function templateHash(template: unknown, collisions: number = 0): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(stableJson(template) + (collisions > 0 ? `#${collisions}` : ''))) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  let text = '';
  for (let index = 0; index < 10; index++) {
    text += ALPHABET[Number(hash % BigInt(ALPHABET.length))];
    hash /= BigInt(ALPHABET.length);
  }
  return text;
}
