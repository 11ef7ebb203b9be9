import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startCluster } from '../cluster.ts';
import { readAuthenticationConfiguration } from './authentication-configuration.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'authentication-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function read(content: unknown) {
  const file = join(folder, 'file.yaml');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return await readAuthenticationConfiguration(file);
}

const issuer = { url: 'https://login.example.com', audiences: ['shop'] };
const claimMappings = { username: { claim: 'email', prefix: '' } };
const entry = (more: object) => ({ jwt: [{ issuer, claimMappings, ...more }] });

test('what is understood is read', async () => {
  const rules = { claimValidationRules: [{ claim: 'hd', requiredValue: 'corp' }] };
  expect(await read(entry(rules))).toEqual([{ issuer, claimMappings, ...rules }]);
  expect(await read({ kind: 'AuthenticationConfiguration' })).toEqual([]);
});

test.each<[string, unknown]>([
  ['Invalid value: "array"', '[]'],
  ['Invalid value: "null"', ''],
  ['jwt: Invalid value: "integer"', { jwt: 3 }],
  ['jwt[0]: Invalid value: "null"', { jwt: [null] }],
  ['kind: Unsupported value: "EncryptionConfiguration"', { kind: 'EncryptionConfiguration' }],
  ['jwt[0].issuer.url: must be an https address', entry({ issuer: { ...issuer, url: 'http://login.example.com' } })],
  ['jwt[0].issuer.audiences: Invalid value', entry({ issuer: { ...issuer, audiences: [] } })],
  ['jwt[0].issuer.audiences: Required value', entry({ issuer: { url: issuer.url } })],
  ['jwt[0].issuer.discoveryURL is not known here', entry({ issuer: { ...issuer, discoveryURL: 'https://a' } })],
  [
    'jwt[0].claimMappings.username.claim: Required value',
    entry({ claimMappings: { username: { expression: 'claims.sub' } } }),
  ],
  [
    'jwt[0].claimValidationRules[0].claim: Required value',
    entry({ claimValidationRules: [{ expression: "claims.hd == 'corp'" }] }),
  ],
  ['jwt[0].userValidationRules is not known here', entry({ userValidationRules: [] })],
  ['anonymous is not known here', { anonymous: { enabled: false } }],
  ['key "jwt" already set in map', 'jwt: []\njwt: []\n'],
])('refused by name, for a rule nobody checks would let in whom it was to keep out: %s', async (problem, content) => {
  await expect(read(content)).rejects.toThrow(problem);
  await expect(read(content)).rejects.toThrow('file.yaml: ');
});

test('a cluster does not start with a configuration that is wrong or not there', async () => {
  const authenticationConfig = join(folder, 'missing.yaml');
  await expect(startCluster({ authenticationConfig })).rejects.toThrow('missing.yaml: there is no such file');
  await writeFile(authenticationConfig, 'jwt: [');
  await expect(startCluster({ authenticationConfig })).rejects.toThrow('missing.yaml: ');
});
