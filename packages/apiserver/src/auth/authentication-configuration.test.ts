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
  ['it must be an object', '[]'],
  ['it must be an object', ''],
  ['jwt must be a list', { jwt: 3 }],
  ['jwt[0] must be an object', { jwt: [null] }],
  ['kind must be AuthenticationConfiguration', { kind: 'EncryptionConfiguration' }],
  ['jwt[0].issuer.url must be an https address', entry({ issuer: { ...issuer, url: 'http://login.example.com' } })],
  ['jwt[0].issuer.audiences must be a list with an entry', entry({ issuer: { ...issuer, audiences: [] } })],
  ['jwt[0].issuer.audiences is missing', entry({ issuer: { url: issuer.url } })],
  ['jwt[0].issuer.discoveryURL is not known here', entry({ issuer: { ...issuer, discoveryURL: 'https://a' } })],
  [
    'jwt[0].claimMappings.username.claim is missing',
    entry({ claimMappings: { username: { expression: 'claims.sub' } } }),
  ],
  [
    'jwt[0].claimValidationRules[0].claim is missing',
    entry({ claimValidationRules: [{ expression: "claims.hd == 'corp'" }] }),
  ],
  ['jwt[0].userValidationRules is not known here', entry({ userValidationRules: [] })],
  ['anonymous is not known here', { anonymous: { enabled: false } }],
])('refused by name, for a rule nobody checks would let in whom it was to keep out: %s', async (problem, content) => {
  await expect(read(content)).rejects.toThrow(`file.yaml: ${problem}`);
});

test('a cluster does not start with a configuration that is wrong or not there', async () => {
  const authenticationConfig = join(folder, 'missing.yaml');
  await expect(startCluster({ authenticationConfig })).rejects.toThrow('missing.yaml: there is no such file');
  await writeFile(authenticationConfig, 'jwt: [');
  await expect(startCluster({ authenticationConfig })).rejects.toThrow('missing.yaml: ');
});
