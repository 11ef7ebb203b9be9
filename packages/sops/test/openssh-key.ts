import { generateKeyPairSync, type KeyObject } from 'node:crypto';

import { sshNumber, sshParts } from '../src/keys/ssh-wire.ts';

export interface OpenSshKey {
  /** As `ssh-keygen` writes it. */
  readonly pem: string;
  /** What stands in its `.pub` file. */
  readonly recipient: string;
}

interface Flaws {
  readonly cipher?: string;
  readonly checks?: readonly [number, number];
  readonly comment?: string;
  readonly padding?: readonly number[];
  /** In the place of what the key says of itself. */
  readonly blob?: Buffer;
}

/** A new key in the form of OpenSSH, or with something wrong in it. */
export function makeOpenSshKey(type: 'ssh-ed25519' | 'ssh-rsa', flaws: Flaws = {}): OpenSshKey {
  const { privateKey } =
    type === 'ssh-rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ed25519');
  const { blob, secrets } = partsOf(privateKey);
  const [first, second] = flaws.checks ?? [7, 7];
  const checks = Buffer.alloc(8);
  checks.writeUInt32BE(first);
  checks.writeUInt32BE(second, 4);
  const unpadded = Buffer.concat([checks, sshParts(type, ...secrets, flaws.comment ?? 'me@here')]);
  const padding = flaws.padding ?? Array.from({ length: (8 - (unpadded.length % 8)) % 8 }, (_, index) => index + 1);
  const one = Buffer.from([0, 0, 0, 1]);
  const bytes = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    sshParts(flaws.cipher ?? 'none', flaws.cipher ? 'bcrypt' : 'none', ''),
    one,
    sshParts(flaws.blob ?? blob, Buffer.concat([unpadded, Buffer.from(padding)])),
  ]);
  return {
    pem: `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines(bytes)}-----END OPENSSH PRIVATE KEY-----\n`,
    recipient: `${type} ${blob.toString('base64')} me@here`,
  };
}

function partsOf(key: KeyObject): { blob: Buffer; secrets: Uint8Array[] } {
  const jwk = key.export({ format: 'jwk' });
  const part = (name: 'n' | 'e' | 'd' | 'p' | 'q' | 'qi' | 'x'): Buffer =>
    Buffer.from(jwk[name] as string, 'base64url');
  if (key.asymmetricKeyType === 'ed25519') {
    return { blob: sshParts('ssh-ed25519', part('x')), secrets: [part('x'), Buffer.concat([part('d'), part('x')])] };
  }
  return {
    blob: sshParts('ssh-rsa', sshNumber(part('e')), sshNumber(part('n'))),
    secrets: (['n', 'e', 'd', 'qi', 'p', 'q'] as const).map((name) => sshNumber(part(name))),
  };
}

function lines(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll(/.{1,70}/g, '$&\n');
}
