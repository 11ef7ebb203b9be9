import {
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
} from 'node:crypto';
import { ed25519, x25519 } from '@noble/curves/ed25519.js';
import { type Identity, type Recipient, Stanza } from 'age-encryption';

import type { SshPrivateKey } from './ssh-private-key.ts';
import type { SshPublicKey } from './ssh-public-key.ts';

/*
 * How age wraps the key of a file for an SSH key. It is described in its own program only (agessh): RSA with OAEP, and for Ed25519 what
 * age does for X25519 with the key moved to that curve, and turned by a number that comes of the SSH key.
 */

const fileKeyLength = 16;
const tagLength = 16;

export function sshRecipient(key: SshPublicKey): Recipient {
  // Throws here, where it can be said, for a point that is none.
  const montgomery = key.type === 'ssh-ed25519' ? ed25519.utils.toMontgomery(key.point) : undefined;
  return {
    wrapFileKey(fileKey) {
      if (key.type === 'ssh-rsa') {
        return [new Stanza([key.type, fingerprint(key)], publicEncrypt({ key: key.key, ...oaep }, fileKey))];
      }
      const ephemeral = new Uint8Array(randomBytes(32));
      const share = x25519.getPublicKey(ephemeral);
      const shared = x25519.scalarMult(ephemeral, montgomery!);
      const cipher = createCipheriv('chacha20-poly1305', wrappingKey(key, shared, share, montgomery!), nonce, aead);
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
      return [new Stanza([key.type, fingerprint(key), base64(share)], body)];
    },
  };
}

export function sshIdentity(key: SshPrivateKey): Identity {
  return {
    unwrapFileKey(stanzas) {
      for (const { args, body } of stanzas) {
        if (args[0] !== key.type || args[1] !== fingerprint(key.publicKey)) continue;
        const fileKey =
          key.type === 'ssh-rsa' ? privateDecrypt({ key: key.key, ...oaep }, body) : turned(key, args, body);
        if (fileKey.length !== fileKeyLength) throw new RangeError('not the key of a file');
        return fileKey;
      }
      return null;
    },
  };
}

function turned(key: SshPrivateKey & { type: 'ssh-ed25519' }, args: readonly string[], body: Uint8Array): Uint8Array {
  const share = Buffer.from(args[2] ?? '', 'base64');
  if (args.length !== 3 || share.length !== 32 || base64(share) !== args[2]) throw new RangeError('not a share');
  const secret = ed25519.utils.toMontgomerySecret(key.seed);
  const shared = x25519.scalarMult(secret, share);
  const wrapping = wrappingKey(key.publicKey, shared, share, x25519.getPublicKey(secret));
  const decipher = createDecipheriv('chacha20-poly1305', wrapping, nonce, aead);
  decipher.setAuthTag(body.subarray(-tagLength));
  return Buffer.concat([decipher.update(body.subarray(0, -tagLength)), decipher.final()]);
}

const label = (type: SshPublicKey['type']): Buffer => Buffer.from(`age-encryption.org/v1/${type}`);
const oaep = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256', oaepLabel: label('ssh-rsa') };
const aead = { authTagLength: tagLength };
/** Each wrapping key is used once. */
const nonce = Buffer.alloc(12);

function wrappingKey(key: SshPublicKey, shared: Uint8Array, share: Uint8Array, theirs: Uint8Array): Uint8Array {
  const turn = derived(Buffer.alloc(0), key.blob);
  return derived(x25519.scalarMult(turn, shared), Buffer.concat([share, theirs]));
}

function derived(secret: Uint8Array, salt: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, salt, label('ssh-ed25519'), 32));
}

/** By which a stanza says for which key it is. */
function fingerprint({ blob }: SshPublicKey): string {
  return base64(createHash('sha256').update(blob).digest().subarray(0, 4));
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}
