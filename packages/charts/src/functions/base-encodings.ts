import { runes } from '../go/bytes.ts';

/** Base64 and base32 as strict as Go's decoders: one wrong character and nothing is decoded. */

const base32Letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function decodeBase64(text: string): Uint8Array {
  const clean = text.replace(/[\r\n]/g, '');
  const match = /^[A-Za-z0-9+/]*/.exec(clean)!;
  const body = match[0];
  const padding = clean.slice(body.length);
  const wanted = (4 - (body.length % 4)) % 4;
  if (wanted === 3 || padding !== '='.repeat(wanted)) throw corrupt(text, clean, body.length, wanted);
  return Buffer.from(clean, 'base64');
}

/** Go counts from the start of the input as it was given, line breaks included. */
function corrupt(text: string, clean: string, bodyLength: number, wanted: number): Error {
  const tail = clean.slice(bodyLength);
  // A text that only stops too early is wrong from its last whole group on.
  let index = tail === '' ? bodyLength - (bodyLength % 4) : bodyLength;
  if (tail[0] === '=' && wanted !== 3) while (clean[index] === '=' && index < bodyLength + wanted) index += 1;
  let seen = 0;
  let position = 0;
  for (; position < text.length && seen < index; position += 1) if (!/[\r\n]/.test(text[position]!)) seen += 1;
  return new Error(`illegal base64 data at input byte ${position}`);
}

export function encodeBase32(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 5) {
    const chunk = bytes.subarray(i, i + 5);
    let bits = 0n;
    for (let j = 0; j < 5; j += 1) bits = (bits << 8n) | BigInt(chunk[j] ?? 0);
    const letters = Math.ceil((chunk.length * 8) / 5);
    for (let j = 0; j < 8; j += 1)
      text += j < letters ? base32Letters[Number((bits >> BigInt(35 - 5 * j)) & 31n)] : '=';
  }
  return text;
}

export function decodeBase32(text: string): Uint8Array {
  const clean = text.replace(/[\r\n]/g, '');
  const bytes: number[] = [];
  for (let i = 0; i < clean.length; i += 8) {
    const chunk = clean.slice(i, i + 8);
    const body = chunk.replace(/=+$/, '');
    const bad = runes(body).findIndex((char) => !base32Letters.includes(char));
    if (bad >= 0) throw new Error(`illegal base32 data at input byte ${i + bad}`);
    const lastChunk = i + 8 >= clean.length;
    if (chunk.length < 8 || (body.length < 8 && !lastChunk) || ![2, 4, 5, 7, 8].includes(body.length))
      throw new Error(`illegal base32 data at input byte ${chunk.length < 8 ? i : i + body.length}`);
    let bits = 0n;
    for (let j = 0; j < 8; j += 1) bits = (bits << 5n) | BigInt(Math.max(base32Letters.indexOf(body[j] ?? 'A'), 0));
    const count = Math.floor((body.length * 5) / 8);
    for (let j = 0; j < count; j += 1) bytes.push(Number((bits >> BigInt(32 - 8 * j)) & 255n));
  }
  return Uint8Array.from(bytes);
}
