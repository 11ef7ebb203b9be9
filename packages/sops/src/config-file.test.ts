import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { creationRuleFor, findConfigFile, indentOf } from './config-file.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sops-config-'));
  await mkdir(join(folder, 'env', 'teams'), { recursive: true });
});
afterEach(async () => await rm(folder, { recursive: true }));

async function rules(text: string): Promise<string> {
  const path = join(folder, '.sops.yaml');
  await writeFile(path, text);
  return path;
}

test('the nearest .sops.yaml above a file is its configuration', async () => {
  const config = await rules('creation_rules: []\n');
  expect(await findConfigFile(join(folder, 'env', 'teams', 'a.yaml'))).toBe(config);
});

test('the first creation rule whose path_regex matches below the configuration file counts', async () => {
  const config = await rules(`creation_rules:
  - path_regex: ^env/.*secrets.*\\.yaml$
    encrypted_regex: ^password$
    age: age1a, age1b
  - age: [age1c]
    mac_only_encrypted: true
`);
  expect(await creationRuleFor(join(folder, 'env', 'secrets.apps.yaml'), config)).toEqual({
    recipients: ['age1a', 'age1b'],
    rule: { encryptedRegex: '^password$' },
    macOnlyEncrypted: false,
  });
  expect(await creationRuleFor(join(folder, 'other.yaml'), config)).toEqual({
    recipients: ['age1c'],
    rule: {},
    macOnlyEncrypted: true,
  });
});

test.each([
  ['a list whose members hold several', 'age: ["age1a, age1b", age1c]'],
  ['one group', 'key_groups: [{age: [age1a, age1b, age1c]}]'],
  ['a group of groups', 'key_groups: [{merge: [{age: [age1a, age1b]}], age: [age1c]}]'],
  ['no group', '{key_groups: [], pgp: "", age: "age1a,age1b,age1c,"}'],
])('recipients are read from %s', async (_, rule) => {
  const config = await rules(`creation_rules:\n  - ${rule}\n`);
  expect((await creationRuleFor(join(folder, 'a.yaml'), config))?.recipients).toEqual(['age1a', 'age1b', 'age1c']);
});

test('anchors and merge keys of the configuration are followed', async () => {
  const config = await rules('keys: &k\n  age: age1a\ncreation_rules:\n  - <<: *k\n    encrypted_regex: b\n');
  expect(await creationRuleFor(join(folder, 'a.yaml'), config)).toMatchObject({ recipients: ['age1a'] });
});

test('a file whose name begins with two dots is below its folder', async () => {
  const config = await rules('creation_rules:\n  - path_regex: ^\\.\\.a$\n    age: age1a\n');
  expect((await creationRuleFor(join(folder, '..a'), config))?.recipients).toEqual(['age1a']);
});

test('recipients given by the caller go before the keys of the rule, whatever they are', async () => {
  const config = await rules('creation_rules:\n  - pgp: ABC\n    encrypted_regex: b\n');
  const found = await creationRuleFor(join(folder, 'a.yaml'), config, { recipients: ['age1a'] });
  expect(found).toMatchObject({ recipients: ['age1a'], rule: { encryptedRegex: 'b' } });
});

test.each([
  ['creation_rules:\n  - age: age1a\n    pgp: ABC\n', /creation_rules\[0\]\.pgp: only age keys/],
  ['creation_rules:\n  - key_groups: [{age: [a], kms: [{arn: b}]}]\n', /key_groups\[0\]\.kms: only age keys/],
  ['creation_rules:\n  - key_groups: [{merge: [{hc_vault: [a]}]}]\n', /merge\[0\]\.hc_vault: only age keys/],
  ['creation_rules:\n  - path_regex: ^x\n', /no creation rule matches env\/a\.yaml/],
  ['creation_rules:\n  - path_regex: "(?<a"\n', /creation_rules\[0\]\.path_regex: .* is not a regular expression/],
  ['creation_rules:\n  - encrypted_regex: a\n    encrypted_suffix: b\n', /only one of/],
  ['creation_rules:\n  - key_groups: [{age: [a]}, {age: [b]}]\n', /several groups/],
  ['creation_rules:\n  - key_groups: [7]\n', /creation_rules\[0\]\.key_groups: expected a list of maps/],
  ['creation_rules:\n  - key_groups: [{age: [a], pgpp: [b]}]\n', /key_groups\[0\]\.pgpp: a rule has no such key/],
  ['creation_rules:\n  - key_groups: [{merge: {age: [a]}}]\n', /key_groups\[0\]\.merge: expected a list of maps/],
  ['creation_rules:\n  - age: 7\n', /creation_rules\[0\]\.age: expected recipients/],
  [
    'creation_rules:\n  - age: a\n    encryped_regex: b\n',
    /creation_rules\[0\]\.encryped_regex: a rule has no such key/,
  ],
  ['creation_rules:\n  - age: a\n    mac_only_encrypted: 1\n', /\.mac_only_encrypted: expected true or false/],
  ['creation_rules: {}\n', /has to be a list of maps/],
  ['a: [\n', /not valid YAML at line 2/],
])('%j is refused with the field', async (text, message) => {
  await expect(creationRuleFor(join(folder, 'env', 'a.yaml'), await rules(text))).rejects.toThrow(message);
});

test.each([
  ['yes', true],
  ['On', true],
  ['no', false],
  ['true', true],
])('mac_only_encrypted: %s is read as sops reads it', async (word, meaning) => {
  const config = await rules(`creation_rules:\n  - age: a\n    mac_only_encrypted: ${word}\n`);
  expect((await creationRuleFor(join(folder, 'a.yaml'), config))?.macOnlyEncrypted).toBe(meaning);
});

test('a configuration without creation rules counts as none', async () => {
  expect(await creationRuleFor(join(folder, 'a.yaml'), await rules('stores: {}\n'))).toBeUndefined();
});

test.each([
  ['stores: {yaml: {indent: 2}}\n', 2],
  ['stores: {yaml: {indent: 0}, json: {indent: 3}}\n', undefined],
  ['creation_rules: []\n', undefined],
])('the indentation of YAML in %j is %j', async (text, indent) => {
  expect(await indentOf(await rules(text), 'yaml')).toBe(indent);
});

test.each(['-2', 'two', '1.5', '100000000'])('an indentation of %s is refused with the field', async (indent) => {
  const config = await rules(`stores: {json: {indent: ${indent}}}\n`);
  await expect(indentOf(config, 'json')).rejects.toThrow('stores.json.indent: expected a number of blanks up to 100');
});
