import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../clock.ts';
import { createCertificateAuthority } from '../tls.ts';

type Claims = Readonly<Record<string, unknown>>;

/** An OpenID Connect issuer on this machine: describes itself, publishes its keys and signs what it is told to. */
export interface TokenIssuer extends AsyncDisposable {
  readonly url: string;
  /** PEM. */
  readonly certificateAuthority: string;
  /** How often it was asked for its keys. */
  readonly asked: () => number;
  /** New keys; tokens of the old ones are worth nothing from then on. */
  rotate(): void;
  /** What it answers to everything from now on; `undefined`: as it should. */
  answerInstead(text: string | undefined): void;
  /** A token that is good for an hour, unless the claims or the header say otherwise. */
  token(claims: Claims, header?: Claims): string;
}

/** @param host where it listens: the machine as those see it who are to ask it. */
export async function startTokenIssuer(
  algorithm: 'RS256' | 'ES256' = 'RS256',
  host = '127.0.0.1',
): Promise<TokenIssuer> {
  const authority = await createCertificateAuthority({ clock: systemClock, commonName: 'issuer ca' });
  const { certificate, key } = await authority.issue({
    commonName: 'issuer',
    dnsNames: ['localhost'],
    ipAddresses: [host],
    usage: 'server',
  });
  let keyNumber = 0;
  let asked = 0;
  let keys = newKeys(algorithm);
  let instead: string | undefined;
  const server = https.createServer({ cert: certificate, key }, (request, response) => {
    const answer = (body: object) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (instead !== undefined) response.writeHead(200).end(instead);
    else if (request.url === '/.well-known/openid-configuration') {
      answer({ issuer: url, jwks_uri: `${url}/keys`, id_token_signing_alg_values_supported: [algorithm] });
    } else if (request.url === '/keys') {
      asked += 1;
      const jwk = keys.publicKey.export({ format: 'jwk' });
      answer({ keys: [{ ...jwk, use: 'sig', alg: algorithm, kid: `key-${keyNumber}` }] });
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const url = `https://${host}:${(server.address() as AddressInfo).port}`;
  return {
    url,
    certificateAuthority: authority.certificate,
    asked: () => asked,
    rotate() {
      keyNumber += 1;
      keys = newKeys(algorithm);
    },
    answerInstead(text) {
      instead = text;
    },
    token(claims, header = {}) {
      const nowSeconds = Math.floor(systemClock.now() / 1_000);
      const head = { alg: algorithm, kid: `key-${keyNumber}`, typ: 'JWT', ...header };
      const body = { iss: url, iat: nowSeconds, exp: nowSeconds + 3_600, ...claims };
      const payload = `${encoded(head)}.${encoded(body)}`;
      return `${payload}.${signature(payload, keys.privateKey)}`;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function newKeys(algorithm: 'RS256' | 'ES256') {
  return algorithm === 'RS256'
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function signature(payload: string, key: KeyObject): string {
  return sign('sha256', Buffer.from(payload), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
