import { createPrivateKey, type KeyObject } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';

import { SopsError } from '../sops-error.ts';
import { ed25519PublicKey, readSshBlob, rsaPublicKey, type SshPublicKey } from './ssh-public-key.ts';
import { SshReader } from './ssh-wire.ts';

/** A private key as SSH keeps it, of the two kinds age can decrypt with. */
export type SshPrivateKey =
  | { readonly type: 'ssh-ed25519'; readonly publicKey: SshPublicKey; readonly seed: Buffer }
  | { readonly type: 'ssh-rsa'; readonly publicKey: SshPublicKey; readonly key: KeyObject };

const pemForm = /^\s*-----BEGIN ([A-Z ]*PRIVATE KEY)-----\s([^]*?)-----END \1-----/;
const magic = 'openssh-key-v1\0';

/** Whether a text is a private key in PEM, as SSH writes it. */
export function isSshPrivateKey(text: string): boolean {
  return /^\s*-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text);
}

/** Reads a private key in PEM: that of OpenSSH, and the older forms OpenSSL writes, too. */
export function readSshPrivateKey(text: string, where: string): SshPrivateKey {
  const [, kind, body = ''] = pemForm.exec(text) ?? [];
  if (kind === undefined) throw damaged(where, 'not a private SSH key');
  try {
    if (kind === 'OPENSSH PRIVATE KEY') return readOpenSsh(Buffer.from(body, 'base64'), where);
    if (kind === 'ENCRYPTED PRIVATE KEY' || body.includes('ENCRYPTED')) throw behindPassphrase(where);
    return ofKeyObject(createPrivateKey(text), where);
  } catch (error) {
    if (error instanceof SopsError) throw error;
    // The texts of libraries could quote the key.
    throw damaged(where, 'the private SSH key is damaged');
  }
}

function readOpenSsh(bytes: Buffer, where: string): SshPrivateKey {
  if (bytes.subarray(0, magic.length).toString('latin1') !== magic) throw new RangeError('no key of OpenSSH');
  const outer = new SshReader(bytes.subarray(magic.length));
  const cipher = outer.text();
  outer.text();
  outer.part();
  if (cipher !== 'none') throw behindPassphrase(where);
  if (outer.uint32() !== 1) throw new RangeError('several keys');
  const blob = outer.part();
  const inner = new SshReader(outer.part());
  outer.end();
  if (inner.uint32() !== inner.uint32()) throw new RangeError('the check does not fit');
  const key = readKey(inner, where);
  inner.part();
  const padding = inner.rest();
  if (padding.some((byte, index) => byte !== index + 1)) throw new RangeError('the padding does not fit');
  if (!readSshBlob(blob).blob.equals(key.publicKey.blob)) throw new RangeError('another public key');
  return key;
}

function readKey(reader: SshReader, where: string): SshPrivateKey {
  const type = reader.text();
  if (type === 'ssh-ed25519') {
    const point = reader.part();
    const secret = reader.part();
    if (secret.length !== 64 || !secret.subarray(32).equals(point)) throw new RangeError('not an Ed25519 key');
    return ed25519Key(secret.subarray(0, 32), point);
  }
  if (type !== 'ssh-rsa') throw otherType(where, type);
  const [modulus, exponent, secret, inverse, p, q] = Array.from({ length: 6 }, () => reader.positive()) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  if (whole(p) * whole(q) !== whole(modulus) || whole(p) === 1n || whole(q) === 1n) throw new RangeError('no RSA key');
  const part = (bytes: Buffer): string => bytes.toString('base64url');
  const remainder = (prime: Buffer): string => {
    const hex = (whole(secret) % (whole(prime) - 1n)).toString(16);
    return part(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex'));
  };
  const key = createPrivateKey({
    key: {
      kty: 'RSA',
      n: part(modulus),
      e: part(exponent),
      d: part(secret),
      p: part(p),
      q: part(q),
      dp: remainder(p),
      dq: remainder(q),
      qi: part(inverse),
    },
    format: 'jwk',
  });
  return { type, publicKey: rsaPublicKey(modulus, exponent), key };
}

function ofKeyObject(key: KeyObject, where: string): SshPrivateKey {
  const { kty = '', n = '', e = '', d = '', x = '' } = key.export({ format: 'jwk' });
  const part = (text: string): Buffer => Buffer.from(text, 'base64url');
  if (key.asymmetricKeyType === 'ed25519') return ed25519Key(part(d), part(x));
  if (key.asymmetricKeyType !== 'rsa') throw otherType(where, kty);
  return { type: 'ssh-rsa', publicKey: rsaPublicKey(part(n), part(e)), key };
}

function ed25519Key(seed: Buffer, point: Buffer): SshPrivateKey {
  if (!point.equals(ed25519.getPublicKey(seed))) throw new RangeError('another public key');
  return { type: 'ssh-ed25519', publicKey: ed25519PublicKey(point), seed };
}

function whole(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}

function damaged(where: string, what: string): SopsError {
  return new SopsError('config', `${where}: ${what}`, { hint: 'ssh-keygen makes one, in the form of OpenSSH' });
}

function otherType(where: string, type: string): SopsError {
  return new SopsError('unsupported', `${where}: an SSH key of type ${type} cannot decrypt`, {
    hint: 'age uses ssh-ed25519 and ssh-rsa',
  });
}

function behindPassphrase(where: string): SopsError {
  return new SopsError('unsupported', `${where}: the SSH key is behind a passphrase, which cannot be taken off here`, {
    hint: 'take it off a copy (ssh-keygen -p), use an age key, or the sops command',
  });
}
