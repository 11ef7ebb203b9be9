import type { KeyObject } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { ApiObject } from '../object.ts';
import type { Random } from '../random.ts';
import type { UserInfo } from './auth.ts';
import type { StoredObjects } from './stored-objects.ts';
import { nodeCrypto } from '../node-crypto.ts';

export interface ServiceAccountTokensOptions {
  readonly objects: StoredObjects;
  readonly clock: Clock;
  readonly random: Random;
  /** The `iss` claim and default audience. Default `https://kubernetes.default.svc.cluster.local`. */
  readonly issuer?: string;
  /** PEM of an RSA private key. Default: one is made when the first token is. */
  readonly signingKey?: string;
  /** Is given the PEM of a key that was made, before anything is signed with it. Default: it is not kept. */
  readonly keepSigningKey?: (pem: string) => void;
}

export interface BoundObject {
  readonly kind: string;
  readonly apiVersion?: string;
  readonly name: string;
  readonly uid?: string;
}

export interface TokenOrder {
  readonly serviceAccount: ApiObject;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** The pod, secret or node that must live for the token to be good. */
  readonly boundTo?: BoundObject;
}

interface Reference {
  name: string;
  uid: string;
}

interface Claims {
  aud: string | string[];
  exp: number;
  iat: number;
  iss: string;
  jti: string;
  nbf: number;
  sub: string;
  'kubernetes.io'?: {
    namespace: string;
    serviceaccount: Reference;
    pod?: Reference;
    secret?: Reference;
    node?: Reference;
  };
}

export interface VerifiedToken {
  readonly user: UserInfo;
  readonly audiences: readonly string[];
}

const STORAGE: Record<string, string> = { pod: 'pods', secret: 'secrets', node: 'nodes' };

export function serviceAccountName(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
}

/** Makes and checks the JSON web tokens of ServiceAccounts (RS256). */
export class ServiceAccountTokens {
  readonly issuer: string;
  readonly #options: ServiceAccountTokensOptions;
  #keys: Promise<{ id: string; privateKey: KeyObject; publicKey: KeyObject }> | undefined;

  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options;
    this.issuer = options.issuer ?? 'https://kubernetes.default.svc.cluster.local';
  }

  async issue(order: TokenOrder): Promise<{ token: string; expirationTimestamp: number }> {
    const { serviceAccount, boundTo } = order;
    const { namespace, name, uid } = serviceAccount.metadata;
    const now = Math.floor(this.#options.clock.now() / 1_000);
    const claims: Claims = {
      aud: [...order.audiences],
      exp: now + order.expirationSeconds,
      iat: now,
      iss: this.issuer,
      jti: this.#options.random.uuid(),
      'kubernetes.io': {
        namespace: namespace!,
        ...(boundTo ? { [boundTo.kind.toLowerCase()]: { name: boundTo.name, uid: boundTo.uid ?? '' } } : {}),
        serviceaccount: { name: name!, uid: uid! },
      },
      nbf: now,
      sub: serviceAccountName(namespace!, name!),
    };
    const keys = await this.#getKeys();
    const payload = `${encode({ alg: 'RS256', kid: keys.id })}.${encode(claims)}`;
    const signature = nodeCrypto().sign('RSA-SHA256', Buffer.from(payload), keys.privateKey).toString('base64url');
    return { token: `${payload}.${signature}`, expirationTimestamp: claims.exp * 1_000 };
  }

  /** Who a token stands for; `undefined` when it is no token of ours, expired, for others, or its account is gone. */
  async verify(token: string, audiences?: readonly string[]): Promise<VerifiedToken | undefined> {
    const claims = await this.#readClaims(token);
    const kubernetes = claims?.['kubernetes.io'];
    if (!claims || !kubernetes) {
      return undefined;
    }
    const now = this.#options.clock.now() / 1_000;
    if (claims.iss !== this.issuer || now >= claims.exp || now + 60 < claims.nbf) {
      return undefined;
    }
    const tokenAudiences = Array.isArray(claims.aud) ? claims.aud : [claims.aud];
    const accepted = audiences?.length ? audiences : [this.issuer];
    const shared = accepted.filter((audience) => tokenAudiences.includes(audience));
    if (shared.length === 0 || !this.#isAlive(kubernetes)) {
      return undefined;
    }
    const { namespace, serviceaccount, pod, node } = kubernetes;
    return {
      audiences: shared,
      user: {
        name: claims.sub,
        uid: serviceaccount.uid,
        groups: serviceAccountGroups(namespace),
        extra: {
          'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`],
          ...(node
            ? {
                'authentication.kubernetes.io/node-name': [node.name],
                'authentication.kubernetes.io/node-uid': [node.uid],
              }
            : {}),
          ...(pod
            ? {
                'authentication.kubernetes.io/pod-name': [pod.name],
                'authentication.kubernetes.io/pod-uid': [pod.uid],
              }
            : {}),
        },
      },
    };
  }

  /** The public key as a JSON web key set, for `/openid/v1/jwks`. */
  async keySet(): Promise<{ keys: object[] }> {
    const { id, publicKey } = await this.#getKeys();
    return { keys: [{ use: 'sig', kty: 'RSA', kid: id, alg: 'RS256', ...publicKey.export({ format: 'jwk' }) }] };
  }

  async #readClaims(token: string): Promise<Claims | undefined> {
    const parts = token.split('.');
    // Without a key nothing was ever signed, unless the key was given.
    if (parts.length !== 3 || (!this.#keys && !this.#options.signingKey)) {
      return undefined;
    }
    const [header, payload, signature] = parts as [string, string, string];
    try {
      const { alg } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { alg?: string };
      const keys = await this.#getKeys();
      const isGenuine =
        alg === 'RS256' &&
        nodeCrypto().verify(
          'RSA-SHA256',
          Buffer.from(`${header}.${payload}`),
          keys.publicKey,
          Buffer.from(signature, 'base64url'),
        );
      return isGenuine ? (JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims) : undefined;
    } catch {
      return undefined;
    }
  }

  #isAlive({ namespace, serviceaccount, ...bound }: NonNullable<Claims['kubernetes.io']>): boolean {
    const account = this.#options.objects.lookup('serviceaccounts', namespace, serviceaccount.name);
    if (account?.metadata.uid !== serviceaccount.uid) {
      return false;
    }
    return Object.entries(bound).every(([kind, reference]) => {
      const storageId = STORAGE[kind];
      const home = kind === 'node' ? undefined : namespace;
      const object = storageId && reference && this.#options.objects.lookup(storageId, home, reference.name);
      return object ? object.metadata.uid === reference.uid : kind === 'node';
    });
  }

  #getKeys() {
    this.#keys ??= (async () => {
      const { signingKey, keepSigningKey } = this.#options;
      const { createHash, createPrivateKey, createPublicKey } = nodeCrypto();
      const privateKey = signingKey ? createPrivateKey(signingKey) : await newSigningKey();
      if (!signingKey) keepSigningKey?.(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
      const publicKey = createPublicKey(privateKey);
      const der = publicKey.export({ type: 'spki', format: 'der' });
      return { id: createHash('sha256').update(der).digest('base64url'), privateKey, publicKey };
    })();
    return this.#keys;
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function newSigningKey(): Promise<KeyObject> {
  return new Promise((resolve, reject) => {
    nodeCrypto().generateKeyPair('rsa', { modulusLength: 2048 }, (error, _publicKey, privateKey) => {
      if (error) reject(error);
      else resolve(privateKey);
    });
  });
}
