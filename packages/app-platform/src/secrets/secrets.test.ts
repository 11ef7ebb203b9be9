import { X509Certificate } from 'node:crypto';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock, systemRandom } from '@slipway/kube';
import { generateAgeKey } from '@slipway/sops';
import { expect, test } from 'vitest';

import { stepPlatform, type StepPlatform } from '../../test/step-kit.ts';
import { secretRules } from '../values/secret-paths.ts';
import { merge, type Tree, valueAt } from '../values/tree.ts';
import { decryptSecrets, encryptSecrets, secretsInClear } from './crypt.ts';
import { createCustomCA } from './custom-ca.ts';
import { generateSecrets } from './generate-secrets.ts';
import { getKmsValues } from './kms-values.ts';
import { OpenedSecrets } from './opened-secrets.ts';
import { getUsers } from './users.ts';

const rules = secretRules({
  properties: {
    apps: {
      properties: {
        shop: {
          properties: {
            password: { 'x-secret': '{{ randAlphaNum 20 }}' },
            cookie: { 'x-secret': '{{ randAlphaNum 32 | b64enc }}' },
            user: { 'x-secret': 'shopkeeper' },
            licence: { 'x-secret': '' },
            replicas: { type: 'integer' },
          },
        },
      },
    },
    teamConfig: {
      patternProperties: {
        '.*': { properties: { settings: { properties: { token: { 'x-secret': '{{ randAlpha 8 }}' } } } } },
      },
    },
  },
});

test('generateSecrets(): a value for every x-secret template; what was made or given stays', () => {
  const given: Tree = { apps: { shop: { replicas: 3 } }, teamConfig: { red: {}, blue: {} } };
  const made = generateSecrets(rules, given);
  expect(made).toEqual({
    apps: {
      shop: {
        password: expect.stringMatching(/^[A-Za-z0-9]{20}$/),
        cookie: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
        user: 'shopkeeper',
      },
    },
    teamConfig: {
      red: { settings: { token: expect.stringMatching(/^[A-Za-z]{8}$/) } },
      blue: { settings: { token: expect.stringMatching(/^[A-Za-z]{8}$/) } },
    },
  });
  expect(generateSecrets(rules, merge(given, made))).toEqual(made);
});

test('generateSecrets(): what the user gave is taken, also where there is no template', () => {
  const given: Tree = { apps: { shop: { password: 'mine', licence: 'paid' } } };
  expect(generateSecrets(rules, given)).toMatchObject({ apps: { shop: { password: 'mine', licence: 'paid' } } });
});

test('createCustomCA(): an authority for ten years; one that is there stays', async () => {
  const made = await createCustomCA({}, systemClock);
  const { customRootCA, customRootCAKey } = valueAt(made, ['apps', 'cert-manager']) as Record<string, string>;
  const certificate = new X509Certificate(customRootCA!);
  expect(certificate.ca).toBe(true);
  expect(certificate.serialNumber).toBe('01');
  const years = (certificate.validToDate.getTime() - systemClock.now()) / (365 * 86_400_000);
  expect(years).toBeCloseTo(10, 1);
  expect(customRootCAKey).toContain('PRIVATE KEY');
  expect(customRootCA! + customRootCAKey!).not.toContain('\r');
  expect(await createCustomCA(made, systemClock)).toEqual({});
});

test('createCustomCA(): half of an authority is none', async () => {
  const half: Tree = { apps: { 'cert-manager': { customRootCA: 'certificate without its key' } } };
  expect(await createCustomCA(half, systemClock)).not.toEqual({});
});

test('getKmsValues(): age without keys gets a pair; one that is there stays', async () => {
  const made = await getKmsValues({ kms: { sops: { provider: 'age' } } });
  expect(made).toEqual({
    kms: {
      sops: {
        provider: 'age',
        age: { publicKey: expect.stringMatching(/^age1/), privateKey: expect.stringMatching(/^AGE-SECRET-KEY-/) },
      },
    },
  });
  expect(await getKmsValues(made)).toEqual(made);
});

test.each([
  [{}, {}],
  [{ kms: {} }, {}],
  [{ kms: { sops: {} } }, {}],
  [
    { kms: { sops: { provider: 'aws', aws: { keys: 'arn' } } } },
    { kms: { sops: { provider: 'aws', aws: { keys: 'arn' } } } },
  ],
])('getKmsValues(%j) makes no keys', async (input, expected) => {
  expect(await getKmsValues(input)).toEqual(expected);
});

const cluster = { domainSuffix: 'dev.example.com' };
const strict = /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])(?=.*[!@#$%&*])[\d\w!@#$%&*]{20}$/;

test('getUsers(): the platform admin and everybody else get a first password and a name; who has them keeps them', () => {
  const users = getUsers({ cluster, users: [{ email: 'ada@example.com' }] }, systemRandom);
  expect(users).toEqual([
    {
      email: 'ada@example.com',
      initialPassword: expect.stringMatching(strict),
      name: expect.stringMatching(/^[0-9a-f-]{36}$/),
    },
    {
      email: 'platform-admin@dev.example.com',
      firstName: 'platform',
      lastName: 'admin',
      isPlatformAdmin: true,
      isTeamAdmin: false,
      teams: [],
      initialPassword: expect.stringMatching(strict),
      name: expect.stringMatching(/^[0-9a-f-]{36}$/),
    },
  ]);
  expect(getUsers({ cluster, users }, systemRandom)).toEqual(users);
});

test('getUsers(): with an external identity provider nobody is added', () => {
  expect(getUsers({ cluster, otomi: { hasExternalIDP: true } }, systemRandom)).toEqual([]);
});

test('getUsers(): the values that were given are not changed', () => {
  const given: Tree = { cluster, users: [{ email: 'ada@example.com' }] };
  getUsers(given, systemRandom);
  expect(given).toEqual({ cluster, users: [{ email: 'ada@example.com' }] });
});

const file = 'env/apps/secrets.shop.yaml';
const twin = `${file}.dec`;
const clear = 'kind: AplApp\nspec:\n    password: hush\n    other: still\n';

/** A repository with one secret in clear, and the key that opens what is encrypted in it. */
async function repository(): Promise<StepPlatform & { crypt: Parameters<typeof encryptSecrets>[0] }> {
  const { identity, recipient } = await generateAgeKey();
  const rule = `creation_rules:\n    - path_regex: ^(.*/)?secrets.*.yaml(\\.dec)?$\n      age: ${recipient}\n`;
  const step = await stepPlatform({ files: { '.sops.yaml': rule, [file]: clear } });
  const { directory } = step.platform;
  return { ...step, crypt: { directory, keys: new Set([identity]), clock: systemClock } };
}

test('encrypt(): a secret file in clear is encrypted beside its twin; TRAP: again, not a byte changes', async () => {
  await using step = await repository();
  expect(await secretsInClear(step.platform.directory)).toEqual([file]);
  await encryptSecrets(step.crypt);
  const files = await step.files();
  expect(files[file]).toContain('ENC[AES256_GCM');
  expect(files[file]).not.toContain('hush');
  expect(files[twin]).toBe(clear);
  expect(await secretsInClear(step.platform.directory)).toEqual([]);
  await encryptSecrets(step.crypt);
  expect(await step.files()).toEqual(files);
});

test('encrypt(): DEFECT: an edit of the twin of an encrypted file is not lost, and what is beside it keeps its bytes', async () => {
  await using step = await repository();
  await encryptSecrets(step.crypt);
  const before = (await step.files())[file]!;
  await writeFile(join(step.platform.directory, twin), clear.replace('hush', 'psst'));
  await encryptSecrets(step.crypt);
  const after = (await step.files())[file]!;
  expect(lineOf(after, 'password')).not.toBe(lineOf(before, 'password'));
  expect(lineOf(after, 'other')).toBe(lineOf(before, 'other'));
  await rm(join(step.platform.directory, twin));
  await decryptSecrets(step.crypt);
  expect((await step.files())[twin]).toContain('password: psst');
});

test('encrypt(): an edit of the twin is not lost where the file was opened before', async () => {
  await using step = await repository();
  const crypt = { ...step.crypt, opened: new OpenedSecrets() };
  await encryptSecrets(crypt);
  await decryptSecrets(crypt);
  const before = (await step.files())[file]!;
  await writeFile(join(step.platform.directory, twin), clear.replace('hush', 'psst'));
  await encryptSecrets(crypt);
  expect((await step.files())[file]).not.toBe(before);
});

test('encrypt(): a file that is still in clear becomes what its twin says', async () => {
  await using step = await repository();
  await writeFile(join(step.platform.directory, twin), clear.replace('hush', 'psst'));
  await encryptSecrets(step.crypt);
  await rm(join(step.platform.directory, twin));
  await decryptSecrets(step.crypt);
  expect((await step.files())[twin]).toContain('password: psst');
});

test('encrypt(): a rule that names what is secret leaves everything else readable', async () => {
  await using step = await repository();
  const place = join(step.platform.directory, '.sops.yaml');
  const rule = await readFile(place, 'utf8');
  await writeFile(place, `${rule}      encrypted_regex: ^password$\n`);
  await encryptSecrets(step.crypt);
  const sealed = (await step.files())[file]!;
  expect(lineOf(sealed, 'password')).toContain('ENC[AES256_GCM');
  expect(lineOf(sealed, 'other')).toContain('still');
});

test('encrypt(): a rule whose MAC covers encrypted values only is followed', async () => {
  await using step = await repository();
  const place = join(step.platform.directory, '.sops.yaml');
  const rule = await readFile(place, 'utf8');
  await writeFile(place, `${rule}      mac_only_encrypted: true\n`);
  await encryptSecrets(step.crypt);
  expect(lineOf((await step.files())[file]!, 'mac_only_encrypted')).toContain('true');
});

test('encrypt(): an empty file stays, and one that cannot be encrypted is named', async () => {
  await using step = await repository();
  await writeFile(join(step.platform.directory, file), '');
  await encryptSecrets(step.crypt);
  expect((await step.files())[file]).toBe('');
  await writeFile(join(step.platform.directory, file), 'a: 1\na: 2\n');
  const error = await encryptSecrets(step.crypt).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'Encrypted', message: expect.stringContaining(`${file}: not valid YAML`) });
});

test('secretsInClear(): an empty file has no secret', async () => {
  await using step = await repository();
  await writeFile(join(step.platform.directory, file), '');
  expect(await secretsInClear(step.platform.directory)).toEqual([]);
});

test('decrypt(): every secret file has its twin, one whose file is gone goes; again, nothing changes', async () => {
  await using step = await repository();
  await encryptSecrets(step.crypt);
  await rm(join(step.platform.directory, twin));
  await writeFile(join(step.platform.directory, 'env/apps/secrets.gone.yaml.dec'), 'spec: {password: old}\n');
  await decryptSecrets(step.crypt);
  const files = await step.files();
  expect(Object.keys(files)).toEqual(['.sops.yaml', file, twin]);
  expect(files[twin]).toContain('password: hush');
  await decryptSecrets(step.crypt);
  expect(await step.files()).toEqual(files);
});

test('decrypt(): TRAP: a file that cannot be decrypted fails by its name, instead of leaving ciphertext for a value', async () => {
  await using step = await repository();
  await encryptSecrets(step.crypt);
  await rm(join(step.platform.directory, twin));
  const other = new Set([(await generateAgeKey()).identity]);
  await expect(decryptSecrets({ ...step.crypt, keys: other })).rejects.toMatchObject({
    code: 'Encrypted',
    problems: [{ file }],
  });
  expect(await step.files()).not.toHaveProperty([twin]);
});

test('encrypt() and decrypt(): a repository that does not say how its secrets are encrypted is left as it is', async () => {
  await using step = await repository();
  await rm(join(step.platform.directory, '.sops.yaml'));
  await encryptSecrets(step.crypt);
  await decryptSecrets(step.crypt);
  expect(await step.files()).toEqual({ [file]: clear });
});

test('encrypt(): rules that are there and cannot be read are no reason to leave secrets in clear', async () => {
  await using step = await repository();
  const place = join(step.platform.directory, '.sops.yaml');
  await rm(place);
  await symlink('.sops.yaml', place);
  await expect(encryptSecrets(step.crypt)).rejects.toThrow('ELOOP');
  await expect(secretsInClear(step.platform.directory)).rejects.toThrow('ELOOP');
});

function lineOf(text: string, key: string): string | undefined {
  return text.split('\n').find((line) => line.includes(`${key}:`));
}
