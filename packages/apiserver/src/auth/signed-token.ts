import type { KeyObject, webcrypto } from 'node:crypto';

import { nodeCrypto } from '../node-crypto.ts';

/** What an issuer publishes. */
export interface JsonWebKeySet {
  readonly keys?: readonly (webcrypto.JsonWebKey & { readonly kid?: string })[];
}

/** A JSON web token that has been read, but not believed. */
export interface SignedToken {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly keyId?: string;
  /** Kind of the key it is signed with. */
  readonly keyType: 'RSA' | 'EC';
  isSignedWith(key: KeyObject): boolean;
}

interface Algorithm {
  readonly keyType: 'RSA' | 'EC';
  readonly hash: string;
  readonly curve?: string;
  readonly isPss?: boolean;
}

/** Those of kube-apiserver. What a token says of itself never makes a public key a shared secret, or no key at all. */
const algorithms: Readonly<Record<string, Algorithm>> = {
  RS256: { keyType: 'RSA', hash: 'sha256' },
  RS384: { keyType: 'RSA', hash: 'sha384' },
  RS512: { keyType: 'RSA', hash: 'sha512' },
  PS256: { keyType: 'RSA', hash: 'sha256', isPss: true },
  PS384: { keyType: 'RSA', hash: 'sha384', isPss: true },
  PS512: { keyType: 'RSA', hash: 'sha512', isPss: true },
  ES256: { keyType: 'EC', hash: 'sha256', curve: 'prime256v1' },
  ES384: { keyType: 'EC', hash: 'sha384', curve: 'secp384r1' },
  ES512: { keyType: 'EC', hash: 'sha512', curve: 'secp521r1' },
};

/** Takes a token apart; `undefined` when it is none, or signed in a way nobody accepts. */
export function readToken(text: string): SignedToken | undefined {
  const parts = text.split('.');
  if (parts.length !== 3) return undefined;
  const [header, payload, signature] = parts as [string, string, string];
  const head = decoded(header);
  const claims = decoded(payload);
  const name = head?.['alg'];
  const algorithm = typeof name === 'string' && Object.hasOwn(algorithms, name) ? algorithms[name] : undefined;
  if (!claims || !algorithm) return undefined;
  return {
    claims,
    ...(typeof head?.['kid'] === 'string' ? { keyId: head['kid'] } : {}),
    keyType: algorithm.keyType,
    isSignedWith: (key) =>
      isSigned(algorithm, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url')),
  };
}

function isSigned({ hash, curve, isPss }: Algorithm, data: Buffer, key: KeyObject, signature: Buffer): boolean {
  const { constants, verify } = nodeCrypto();
  if (key.asymmetricKeyDetails?.namedCurve !== curve) return false;
  if (curve !== undefined) return verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, signature);
  if (!isPss) return verify(hash, data, key, signature);
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return verify(hash, data, { key, ...padding }, signature);
}

/** The key a token says it is signed with. */
export function publicKeyOf({ keyId, keyType }: SignedToken, { keys = [] }: JsonWebKeySet): KeyObject | undefined {
  const found = keys.find(
    ({ kid, kty, use = 'sig' }) => kty === keyType && use === 'sig' && (keyId === undefined || kid === keyId),
  );
  return found && nodeCrypto().createPublicKey({ key: found, format: 'jwk' });
}

function decoded(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
