import { createHash } from 'node:crypto';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** Base32 in lower case without padding: a hash as a part of a name. */
function base32(bytes: Uint8Array): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{1,5}/g) ?? []).map((group) => alphabet[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}

/** A name for something that belongs to these, always the same one. */
export function k8sNameHash(...parts: readonly string[]): string {
  return base32(createHash('sha1').update(parts.join('/')).digest());
}

/** FNV-1a, 32 bits, of the UTF-8 text. */
export function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

const longestName = 63;

/** `<namespace>--<name>`, cut and made unique by a hash where it would be too long for a name. */
export function prefixWithNamespace(namespace: string, name: string): string {
  const whole = `${namespace || 'default'}--${name}`;
  if (whole.length <= longestName) return whole;
  const hash = `--${fnv32a(whole).toString(16)}`;
  return whole.slice(0, longestName - hash.length) + hash;
}

/** A UUID of version 8 made from a text by SHAKE128. */
function uuidOf(text: string): string {
  const bytes = createHash('shake128', { outputLength: 16 }).update(text).digest();
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The namespace on the platform cluster for what belongs to a control plane. */
export function platformNamespace(namespace: string, name: string): string {
  return `mcp--${uuidOf(`${namespace}/${name}`)}`;
}
