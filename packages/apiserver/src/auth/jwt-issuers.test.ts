import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { systemClock } from '../clock.ts';
import { startAuthCluster } from './auth.fixture.ts';
import { JwtIssuers } from './jwt-issuers.ts';
import { startTokenIssuer, type TokenIssuer } from './token-issuer.fixture.ts';

let folder: string;
let issuer: TokenIssuer;
let file: string;

const ann = { sub: '1', aud: 'shop', email: 'ann@example.com', groups: ['dev', 'ops'] };
const claimMappings = {
  username: { claim: 'email', prefix: 'corp:' },
  groups: { claim: 'groups', prefix: 'corp:' },
};

const entry = ({ url, certificateAuthority }: TokenIssuer, more: object = {}) => ({
  issuer: { url, audiences: ['shop'], certificateAuthority },
  claimMappings,
  ...more,
});

async function trusting(...jwt: object[]): Promise<JwtIssuers> {
  // YAML has all of JSON.
  await writeFile(file, JSON.stringify({ kind: 'AuthenticationConfiguration', jwt }));
  return new JwtIssuers({ file, clock: systemClock });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jwt-'));
  file = join(folder, 'authentication.yaml');
  issuer = await startTokenIssuer();
});
afterAll(async () => {
  await issuer[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test.each(['RS256', 'ES256'] as const)(
  'who has a token of a trusted issuer (%s) is who its claims say',
  async (alg) => {
    await using own = await startTokenIssuer(alg);
    const issuers = await trusting(entry(own));
    expect(await issuers.verify(own.token(ann))).toEqual({
      name: 'corp:ann@example.com',
      groups: ['corp:dev', 'corp:ops', 'system:authenticated'],
    });
    await issuers.verify(own.token(ann));
    expect(own.asked()).toBe(1);
  },
);

const past = { exp: 1_000 };
const refused: readonly (readonly [what: string, token: (from: TokenIssuer) => string])[] = [
  ['that has expired', (from) => from.token({ ...ann, ...past })],
  ['that never expires', (from) => from.token({ ...ann, exp: undefined })],
  ['that begins later', (from) => from.token({ ...ann, nbf: 99_999_999_999 })],
  ['for somebody else', (from) => from.token({ ...ann, aud: 'other' })],
  ['of an issuer nobody named', (from) => from.token({ ...ann, iss: 'https://elsewhere.example' })],
  ['without a name', (from) => from.token({ ...ann, email: undefined })],
  ['with an address its issuer does not believe', (from) => from.token({ ...ann, email_verified: false })],
  ['with groups that are none', (from) => from.token({ ...ann, groups: [{ admin: true }] })],
  ['without a signature', (from) => `${from.token(ann, { alg: 'none' }).split('.').slice(0, 2).join('.')}.`],
  ['that was changed', (from) => changed(from.token(ann))],
  ['signed with the public key as a secret', (from) => signedWithSecret(from.token(ann, { alg: 'HS256' }))],
  ['of another sort of key than it says', (from) => from.token(ann, { alg: 'ES256' })],
  ['with a key nobody knows', (from) => from.token(ann, { kid: 'made-up' })],
  ['that is none', () => 'a.b.c'],
];

function changed(token: string): string {
  const [head, , signature] = token.split('.');
  const body = { ...ann, iss: issuer.url, email: 'root@example.com', exp: 99_999_999_999 };
  return `${head}.${Buffer.from(JSON.stringify(body)).toString('base64url')}.${signature}`;
}

function signedWithSecret(token: string): string {
  const payload = token.split('.').slice(0, 2).join('.');
  return `${payload}.${createHmac('sha256', issuer.certificateAuthority).update(payload).digest('base64url')}`;
}

test.each(refused)('a token %s is nobody', async (_what, tokenOf) => {
  const issuers = await trusting(entry(issuer));
  expect(await issuers.verify(issuer.token(ann)), 'a good one beside it').toBeDefined();
  expect(await issuers.verify(tokenOf(issuer))).toBeUndefined();
});

test('an issuer with a certificate of another authority vouches for nobody', async () => {
  await using other = await startTokenIssuer();
  const { url } = issuer;
  const issuers = await trusting(entry({ ...issuer, url, certificateAuthority: other.certificateAuthority }));
  expect(await issuers.verify(issuer.token(ann))).toBeUndefined();
});

test('a claim that is required has to have its value', async () => {
  const issuers = await trusting(entry(issuer, { claimValidationRules: [{ claim: 'hd', requiredValue: 'corp' }] }));
  expect(await issuers.verify(issuer.token(ann))).toBeUndefined();
  expect(await issuers.verify(issuer.token({ ...ann, hd: 'corp' }))).toBeDefined();
});

test('made-up key ids do not make it ask the issuer for each', async () => {
  await using own = await startTokenIssuer();
  const issuers = await trusting(entry(own));
  for (let index = 0; index < 20; index += 1) await issuers.verify(own.token(ann, { kid: `made-up-${index}` }));
  expect(own.asked()).toBe(1);
});

test('new keys of an issuer are found, and tokens of the old ones end', async () => {
  await using own = await startTokenIssuer();
  let nowMs = systemClock.now();
  await trusting(entry(own));
  const issuers = new JwtIssuers({ file, clock: { ...systemClock, now: () => nowMs } });
  const old = own.token(ann);
  expect(await issuers.verify(old)).toBeDefined();
  own.rotate();
  nowMs += 60_000;
  expect(await issuers.verify(own.token(ann))).toBeDefined();
  expect(await issuers.verify(old)).toBeUndefined();
});

describe('the file', () => {
  test('is read again when it changes; while a new one is wrong or gone, the last good one counts', async () => {
    const changing = join(folder, 'changing.yaml');
    const issuers = new JwtIssuers({ file: changing, clock: systemClock });
    const isKnown = async () => (await issuers.verify(issuer.token(ann))) !== undefined;
    expect(await isKnown()).toBe(false);
    await writeFile(changing, JSON.stringify({ jwt: [entry(issuer)] }));
    expect(await isKnown()).toBe(true);
    await writeFile(changing, 'jwt: [');
    expect(await isKnown()).toBe(true);
    await rm(changing);
    expect(await isKnown()).toBe(true);
    await writeFile(changing, 'jwt: []\n');
    expect(await isKnown()).toBe(false);
  });
});

test.each([
  ['no JSON', 'hello'],
  ['null', 'null'],
  ['a description of nobody', '{}'],
  ['keys that are none', '{"keys": 3}'],
])('an issuer that answers with %s vouches for nobody and ends nothing', async (_what, answer) => {
  await using own = await startTokenIssuer();
  const issuers = await trusting(entry(own));
  own.answerInstead(answer);
  expect(await issuers.verify(own.token(ann))).toBeUndefined();
  own.answerInstead(undefined);
  expect(await issuers.verify(own.token(ann))).toBeDefined();
});

test('over a socket, with roles: who is bound to none may look at nothing, and a review knows them', async () => {
  await trusting(entry(issuer));
  await using setup = await startAuthCluster({
    port: 0,
    clock: systemClock,
    authorization: 'RBAC',
    authenticationConfig: file,
  });
  const ask = (path: string, token: string): Promise<number> =>
    new Promise((resolve, reject) => {
      get(`${setup.cluster.url}${path}`, { headers: { authorization: `Bearer ${token}` } }, (response) => {
        response.resume();
        resolve(response.statusCode!);
      }).on('error', reject);
    });
  expect(await ask('/api/v1/namespaces', issuer.token(ann))).toBe(403);
  expect(await ask('/api/v1/namespaces', issuer.token({ ...ann, ...past }))).toBe(401);
  expect(await ask('/version', issuer.token(ann))).toBe(200);
  const { body } = await setup.admin.post('/apis/authentication.k8s.io/v1/tokenreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: issuer.token(ann) },
  });
  expect(body['status']).toMatchObject({ authenticated: true, user: { username: 'corp:ann@example.com' } });
});
