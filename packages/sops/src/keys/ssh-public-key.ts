import { createPublicKey, type KeyObject } from 'node:crypto';

import { SshReader, sshNumber, sshParts } from './ssh-wire.ts';

/** A public key as SSH has it, of the two kinds age can encrypt for. */
export type SshPublicKey =
  | { readonly type: 'ssh-ed25519'; readonly blob: Buffer; readonly point: Buffer }
  | { readonly type: 'ssh-rsa'; readonly blob: Buffer; readonly key: KeyObject };

/** Shorter keys are refused by age. */
const leastModulus = 2048;
const mostModulus = 16_384;

/** Reads `ssh-ed25519 AAAA… comment`. Whatever is no such key throws. */
export function readSshPublicKey(line: string): SshPublicKey {
  const [type, text = ''] = line.trim().split(/[ \t]+/);
  const blob = Buffer.from(text, 'base64');
  if (blob.toString('base64') !== text) throw new RangeError('not base64');
  const key = readSshBlob(blob);
  if (key.type !== type) throw new RangeError('another type than it says');
  return key;
}

export function readSshBlob(blob: Buffer): SshPublicKey {
  const reader = new SshReader(blob);
  const type = reader.text();
  if (type === 'ssh-ed25519') {
    const point = reader.part();
    reader.end();
    return ed25519PublicKey(point);
  }
  if (type !== 'ssh-rsa') throw new RangeError('a type of key that age does not use');
  const exponent = reader.positive();
  const modulus = reader.positive();
  reader.end();
  return rsaPublicKey(modulus, exponent);
}

export function ed25519PublicKey(point: Buffer): SshPublicKey {
  if (point.length !== 32) throw new RangeError('not the size of an Ed25519 key');
  return { type: 'ssh-ed25519', blob: sshParts('ssh-ed25519', point), point };
}

export function rsaPublicKey(modulus: Buffer, exponent: Buffer): SshPublicKey {
  const bits = modulus.length * 8 - Math.clz32(modulus[0]!) + 24;
  if (bits < leastModulus || bits > mostModulus) throw new RangeError('not the size of an RSA key');
  if (exponent.length > 3 || exponent.at(-1)! % 2 === 0 || (exponent.length === 1 && exponent[0]! < 3)) {
    throw new RangeError('not the exponent of an RSA key');
  }
  const key = createPublicKey({
    key: { kty: 'RSA', n: modulus.toString('base64url'), e: exponent.toString('base64url') },
    format: 'jwk',
  });
  return { type: 'ssh-rsa', blob: sshParts('ssh-rsa', sshNumber(exponent), sshNumber(modulus)), key };
}

/** As a recipient, without a comment. */
export function sshRecipientText({ type, blob }: SshPublicKey): string {
  return `${type} ${blob.toString('base64')}`;
}
