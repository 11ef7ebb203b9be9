import { stat } from 'node:fs/promises';

import type { Clock } from '../clock.ts';
import { nodeHttps } from '../http/node-http.ts';
import { nodeCrypto } from '../node-crypto.ts';
import type { UserInfo } from './auth.ts';
import { type Issuer, readAuthenticationConfiguration } from './authentication-configuration.ts';
import { type JsonWebKeySet, publicKeyOf, readToken, type SignedToken } from './signed-token.ts';

export interface JwtIssuersOptions {
  /** An AuthenticationConfiguration (`apiserver.config.k8s.io`). It may change at any time. */
  readonly file: string;
  readonly clock: Clock;
}

const requestMs = 10_000;
const longestAnswer = 1024 * 1024;
/** Whoever sends tokens with made-up key ids must not make us ask their issuer for each. */
const askAgainMs = 10_000;

/** People with tokens of identity providers: the `jwt` part of an AuthenticationConfiguration, read again when the file changes. */
export class JwtIssuers {
  readonly #options: JwtIssuersOptions;
  readonly #keys = new Map<string, { readonly askedMs: number; readonly keySet: Promise<JsonWebKeySet> }>();
  #read: { readonly version: string; readonly issuers: Promise<readonly Issuer[]> } = {
    version: '',
    issuers: Promise.resolve([]),
  };

  constructor(options: JwtIssuersOptions) {
    this.#options = options;
  }

  /** Who a token stands for; `undefined` when nobody who is trusted issued it, or not for this server, or not for now. */
  async verify(text: string): Promise<UserInfo | undefined> {
    const token = readToken(text);
    if (token === undefined) return undefined;
    const trusted = (await this.#issuers()).find(({ issuer }) => issuer.url === token.claims['iss']);
    if (!trusted || !this.#isMeant(token, trusted) || !(await this.#isGenuine(token, trusted))) return undefined;
    return userOf(token, trusted);
  }

  #isMeant({ claims }: SignedToken, { issuer, claimValidationRules = [] }: Issuer): boolean {
    const nowSeconds = this.#options.clock.now() / 1_000;
    const { exp, nbf = 0, aud } = claims;
    const isNow = typeof exp === 'number' && nowSeconds < exp && typeof nbf === 'number' && nowSeconds >= nbf;
    const isForUs = [aud].flat().some((audience) => issuer.audiences.includes(audience as string));
    return (
      isNow && isForUs && claimValidationRules.every(({ claim, requiredValue }) => claims[claim] === requiredValue)
    );
  }

  async #isGenuine(token: SignedToken, { issuer }: Issuer): Promise<boolean> {
    try {
      const key =
        publicKeyOf(token, await this.#keySetOf(issuer)) ?? publicKeyOf(token, await this.#keySetOf(issuer, 'again'));
      return key !== undefined && token.isSignedWith(key);
    } catch {
      // An issuer that does not answer vouches for nobody.
      this.#keys.delete(idOf(issuer));
      return false;
    }
  }

  /** The keys of an issuer. `again`: it may have new ones since. */
  async #keySetOf(issuer: Issuer['issuer'], when?: 'again'): Promise<JsonWebKeySet> {
    const id = idOf(issuer);
    const nowMs = this.#options.clock.now();
    const known = this.#keys.get(id);
    if (known && (when === undefined || nowMs - known.askedMs < askAgainMs)) return await known.keySet;
    const keySet = this.#fetchKeys(issuer);
    this.#keys.set(id, { askedMs: nowMs, keySet });
    return await keySet;
  }

  async #fetchKeys(issuer: Issuer['issuer']): Promise<JsonWebKeySet> {
    const place = `${issuer.url.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const { issuer: name, jwks_uri: keys } = await this.#get<{ issuer?: string; jwks_uri?: string }>(place, issuer);
    if (name !== issuer.url || keys === undefined) throw new Error(`${place} does not describe ${issuer.url}`);
    return await this.#get<JsonWebKeySet>(keys, issuer);
  }

  #get<T>(address: string, { certificateAuthority }: Issuer['issuer']): Promise<T> {
    return new Promise((resolve, reject) => {
      const trust = certificateAuthority === undefined ? {} : { ca: certificateAuthority };
      const request = nodeHttps().get(address, { ...trust, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > longestAnswer) request.destroy(new Error('the answer is too large'));
          else chunks.push(chunk);
        });
        response.on('error', fail);
        response.on('end', () => {
          timer.cancel();
          try {
            if (response.statusCode !== 200) throw new Error(`${address} answers ${response.statusCode}`);
            resolve(JSON.parse(Buffer.concat(chunks).toString()) as T);
          } catch (error) {
            reject(error as Error);
          }
        });
      });
      const fail = (error: Error): void => {
        timer.cancel();
        reject(error);
      };
      const timer = this.#options.clock.schedule(requestMs, () => request.destroy(new Error('no answer in time')));
      request.on('error', fail);
    });
  }

  /** Like kube-apiserver it goes on with what it had when a new file is wrong. */
  async #issuers(): Promise<readonly Issuer[]> {
    const { file } = this.#options;
    const found = await stat(file).catch(() => undefined);
    const { version: before, issuers: known } = this.#read;
    const version = found ? `${found.mtimeMs} ${found.ino} ${found.size}` : before;
    if (version !== before) this.#read = { version, issuers: readAuthenticationConfiguration(file).catch(() => known) };
    return await this.#read.issuers;
  }
}

/** The same issuer behind another authority is another one. */
function idOf({ url, certificateAuthority = '' }: Issuer['issuer']): string {
  return nodeCrypto().createHash('sha256').update(`${url}\n${certificateAuthority}`).digest('hex');
}

function userOf({ claims }: SignedToken, { claimMappings: { username, groups } }: Issuer): UserInfo | undefined {
  const name = claims[username.claim];
  if (typeof name !== 'string' || name === '') return undefined;
  // An address the issuer itself does not believe is nobody's.
  if (username.claim === 'email' && claims['email_verified'] !== undefined && claims['email_verified'] !== true)
    return undefined;
  const named = groups ? [claims[groups.claim] ?? []].flat() : [];
  if (!named.every((group) => typeof group === 'string')) return undefined;
  const own = named.map((group) => `${groups?.prefix ?? ''}${group}`);
  return { name: `${username.prefix ?? ''}${name}`, groups: [...own, 'system:authenticated'] };
}
