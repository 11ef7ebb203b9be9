import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';

import { writeFiles } from '../../test/git-kit.ts';
import { loadValues } from './load.ts';
import { migrateValues, type CustomMigration, type ValuesChange } from './migrate.ts';
import { saveValues } from './save.ts';
import { secretPathsInFiles, secretPathsOf, secretRules } from './secret-paths.ts';
import type { Path, Tree } from './tree.ts';
import { validateValues } from './validate.ts';
import { ValuesError } from './values-error.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'slipway-values-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

const handWritten = `# our shop
kind: AplApp
metadata:
  name: shop   # as on the sign
  labels: {}
spec:
  replicas: 2
  "greeting": 'hello'
`;

const read = async (path: string) => await readFile(join(directory, path), 'utf8');
const save = async (tree: Tree, secretPaths: readonly Path[] = [['users']], encrypted = false) =>
  await saveValues({ directory, tree, secretPaths, encrypted });

test('files become one tree: plain and secret halves, teams, lists with names', async () => {
  await writeFiles(directory, {
    'env/apps/shop.yaml': handWritten,
    'env/apps/secrets.shop.yaml': 'kind: AplApp\nspec: {password: a}\n',
    'env/settings/cluster.yaml': 'spec: {name: dev}\n',
    'env/teams/red/settings.yaml': 'spec: {quota: 3}\n',
    'env/teams/red/services/web.yaml': 'metadata: {name: front}\nspec: {port: 80}\n',
    'env/teams/red/workloadValues/x.yaml': 'not: ours\n',
    'env/users/secrets.u-2.yaml': 'spec: {email: b@x}\n',
    'env/users/secrets.u-1.yaml': 'spec: {email: c@x}\n',
    'env/apps/empty.yaml': '',
  });
  const { tree } = await loadValues(directory);
  expect(tree).toEqual({
    apps: { shop: { replicas: 2, greeting: 'hello', password: 'a' }, empty: {} },
    cluster: { name: 'dev' },
    users: [
      { name: 'u-2', email: 'b@x' },
      { name: 'u-1', email: 'c@x' },
    ],
    teamConfig: { red: { settings: { quota: 3 }, services: [{ name: 'front', port: 80 }] } },
  });
});

test('what was loaded and not changed is saved byte for byte: nothing is written', async () => {
  await writeFiles(directory, { 'env/apps/shop.yaml': handWritten });
  expect(await save((await loadValues(directory)).tree)).toEqual([]);
  expect(await read('env/apps/shop.yaml')).toBe(handWritten);
});

test('a change keeps the comments and quotes of everything beside it', async () => {
  await writeFiles(directory, { 'env/apps/shop.yaml': handWritten });
  await save({ apps: { shop: { replicas: 3, greeting: 'hello' } } });
  expect(await read('env/apps/shop.yaml')).toBe(handWritten.replace('2', '3').replace('shop   #', 'shop #'));
});

test('what comes into an empty map is written in lines of its own, as in every new file', async () => {
  await writeFiles(directory, { 'env/apps/shop.yaml': 'kind: AplApp\nmetadata: {name: shop, labels: {}}\nspec: {}\n' });
  await save({ apps: { shop: { replicas: 3, more: {} } } });
  expect(await read('env/apps/shop.yaml')).toMatch(/\nspec:\n {4}replicas: 3\n {4}more: \{\}\n$/);
});

test('secret places go to a file of their own and never into the plain one', async () => {
  await save({ apps: { shop: { replicas: 1, password: 'hush' } } }, [['apps', 'shop', 'password']]);
  expect(await read('env/apps/shop.yaml')).not.toContain('hush');
  expect(await read('env/apps/secrets.shop.yaml')).toContain('hush');
});

test('what somebody put into a secret file stays secret, whether or not the schema says so', async () => {
  const files = {
    'env/apps/shop.yaml': 'kind: AplApp\nmetadata: {name: shop, labels: {}}\nspec: {more: {shown: 1}}\n',
    'env/apps/secrets.shop.yaml':
      'kind: AplApp\nmetadata: {name: shop, labels: {}}\nspec: {token: hush, list: [hush], more: {deep: hush}}\n',
  };
  await writeFiles(directory, files);
  const values = await loadValues(directory);
  expect(await save(values.tree, secretPathsInFiles(values))).toEqual([]);
  for (const [path, text] of Object.entries(files)) expect(await read(path)).toBe(text);
});

test('a secret file of an element of a list is refused: its element would be saved in clear', async () => {
  await writeFiles(directory, { 'env/teams/red/workloads/secrets.web.yaml': 'spec: {token: hush}\n' });
  await expect(loadValues(directory)).rejects.toThrow(
    'env/teams/red/workloads/secrets.web.yaml: has no place here; what is secret of a team belongs to env/teams/red/secrets.settings.yaml',
  );
});

test('a secret file in which nothing is left goes with its twin; one with a secret left, and a plain one, stay', async () => {
  const manifest = (spec: string) => `kind: AplApp\nmetadata: {name: shop, labels: {}}\nspec: ${spec}\n`;
  await writeFiles(directory, {
    'env/apps/secrets.gone.yaml': 'sops: {}\n',
    'env/apps/secrets.gone.yaml.dec': manifest('{password: ""}'),
    'env/apps/secrets.left.yaml': manifest('{password: a, token: b}'),
  });
  const tree = { apps: { gone: { password: '' }, left: { password: '', token: 'b' }, shop: {} } };
  const secretPaths = ['gone.password', 'left.password', 'left.token', 'shop.password'].map((path) => [
    'apps',
    ...path.split('.'),
  ]);
  await save(tree, secretPaths, true);
  expect((await readdir(join(directory, 'env/apps'))).sort()).toEqual([
    'gone.yaml',
    'left.yaml',
    'secrets.left.yaml',
    'secrets.left.yaml.dec',
    'shop.yaml',
  ]);
  expect(await read('env/apps/secrets.left.yaml.dec')).not.toContain('password');
});

test('a file says which team it belongs to, and its spec no more than that; a code repository is called by its label', async () => {
  await save({
    teamConfig: {
      red: {
        settings: { id: 'red', name: 'red', teamId: 'red', quota: 3 },
        codeRepos: [{ label: 'shop', teamId: 'red', url: 'https://git.example.com' }],
      },
    },
  });
  const labels = { 'apl.io/teamId': 'red' };
  expect(parse(await read('env/teams/red/settings.yaml'))).toEqual({
    kind: 'AplTeamSettingSet',
    metadata: { name: 'red', labels },
    spec: { quota: 3 },
  });
  expect(parse(await read('env/teams/red/codeRepos/shop.yaml'))).toEqual({
    kind: 'AplTeamCodeRepo',
    metadata: { name: 'shop', labels },
    spec: { label: 'shop', url: 'https://git.example.com' },
  });
});

test('keys of a file that are none of ours survive a change', async () => {
  await writeFiles(directory, { 'env/apps/shop.yaml': `${handWritten}x-owner: ann\n` });
  await save({ apps: { shop: { replicas: 3 } } });
  expect(parse(await read('env/apps/shop.yaml'))).toMatchObject({ 'x-owner': 'ann', spec: { replicas: 3 } });
});

test('a user is known by the name of the file, whatever is in it', async () => {
  await writeFiles(directory, { 'env/users/secrets.u-1.yaml': 'metadata: {name: ann}\nspec: {email: a@x}\n' });
  expect((await loadValues(directory)).tree['users']).toEqual([{ name: 'u-1', email: 'a@x' }]);
});

test('an encrypted file is changed through its decrypted twin', async () => {
  await writeFiles(directory, {
    'env/apps/secrets.shop.yaml': 'spec: {password: ENC}\nsops: {}\n',
    'env/apps/secrets.shop.yaml.dec': 'kind: AplApp\nmetadata: {name: shop, labels: {}}\nspec: {password: old}\n',
  });
  await save({ apps: { shop: { password: 'new' } } }, [['apps', 'shop', 'password']], true);
  expect(await read('env/apps/secrets.shop.yaml')).toContain('ENC');
  expect(await read('env/apps/secrets.shop.yaml.dec')).toContain('password: new');
});

test('TRAP: ciphertext without its key is an error, not a value', async () => {
  await writeFiles(directory, { 'env/apps/secrets.shop.yaml': 'spec: {password: ENC}\nsops: {}\n' });
  await expect(loadValues(directory)).rejects.toMatchObject({ code: 'Encrypted' });
});

test('a file that is no YAML ends the load with its name and line', async () => {
  await writeFiles(directory, { 'env/apps/shop.yaml': 'kind: AplApp\nspec: [\n' });
  const error = await loadValues(directory).catch((caught: unknown) => caught as ValuesError);
  expect(error).toBeInstanceOf(ValuesError);
  expect((error as ValuesError).problems[0]).toMatchObject({ file: 'env/apps/shop.yaml', line: 3 });
});

const schema: Tree = {
  type: 'object',
  required: ['cluster'],
  definitions: { hidden: { type: 'string', 'x-secret': '{{ randAlphaNum 20 }}' } },
  properties: {
    cluster: { type: 'object', additionalProperties: false, properties: { name: { type: 'string' } } },
    apps: {
      type: 'object',
      properties: { shop: { type: 'object', properties: { password: { $ref: '#/definitions/hidden' } } } },
    },
    teamConfig: {
      type: 'object',
      patternProperties: {
        '^[a-z]+$': {
          properties: { settings: { properties: { quota: { type: 'integer' }, url: { 'x-secret': '' } } } },
        },
      },
    },
  },
};

test('validation names file, line and path of every problem', async () => {
  await writeFiles(directory, {
    'env/settings/cluster.yaml': 'kind: AplCluster\nspec:\n  name: 3\n  colour: red\n',
    'env/teams/red/settings.yaml': 'spec:\n  quota: many\n',
  });
  const values = await loadValues(directory);
  expect(() => validateValues(values, schema)).toThrow(ValuesError);
  try {
    validateValues(values, schema);
  } catch (error) {
    expect((error as ValuesError).problems).toEqual([
      { file: 'env/settings/cluster.yaml', line: 4, path: 'cluster.colour', message: 'there is no such setting' },
      { file: 'env/settings/cluster.yaml', line: 3, path: 'cluster.name', message: 'must be string' },
      {
        file: 'env/teams/red/settings.yaml',
        line: 2,
        path: 'teamConfig.red.settings.quota',
        message: 'must be integer',
      },
    ]);
  }
});

test('a problem is named in the half of an app that has it, the plain or the secret one', async () => {
  await writeFiles(directory, {
    'env/apps/shop.yaml': 'spec:\n  replicas: many\n',
    'env/apps/secrets.shop.yaml': 'spec:\n  password: 5\n',
  });
  const shop = { properties: { replicas: { type: 'integer' }, password: { type: 'string' } } };
  const values = await loadValues(directory);
  const invalid = () => validateValues(values, { properties: { apps: { properties: { shop } } } });
  expect(invalid).toThrow('env/apps/shop.yaml:2: apps.shop.replicas: must be integer');
  expect(invalid).toThrow('env/apps/secrets.shop.yaml:2: apps.shop.password: must be string');
});

test('what the platform itself adds to the values is not held to their schema', () => {
  const tree = { cluster: {}, k8s: {}, adminApps: [], teamApps: [] };
  expect(() => validateValues({ tree, files: [] }, { ...schema, additionalProperties: false })).not.toThrow();
  expect(() =>
    validateValues({ tree: { ...tree, other: 1 }, files: [] }, { ...schema, additionalProperties: false }),
  ).toThrow('other: there is no such setting');
});

test('secret places come from x-secret, through definitions and for each team', () => {
  const rules = secretRules(schema);
  expect(rules.map(({ path, template }) => [path.join('.'), template])).toEqual([
    ['apps.shop.password', '{{ randAlphaNum 20 }}'],
    ['teamConfig.*.settings.url', ''],
  ]);
  const paths = secretPathsOf(rules, { teamConfig: { red: {}, blue: {} } });
  expect(paths.map((path) => path.join('.'))).toEqual([
    'apps.shop.password',
    'teamConfig.red.settings.url',
    'teamConfig.blue.settings.url',
    'users',
  ]);
});

const migrate = async (changes: ValuesChange[], functions: Record<string, CustomMigration> = {}) =>
  await migrateValues({
    directory,
    changes,
    read: async () => (await loadValues(directory)).tree,
    write: async (tree) => void (await save(tree)),
    readPlatform: async () => '{"bulk": true}',
    findFunction: async (name) => functions[name],
  });

test('a migration does every operation, in the order of the versions and of the operations', async () => {
  await writeFiles(directory, {
    'env/settings/versions.yaml': 'spec: {specVersion: 1}\n',
    'env/apps/old.yaml': 'spec: {kept: 1}\n',
    'env/apps/secrets.old.yaml': 'spec: {password: a}\n',
    'env/apps/gone.yaml': 'spec: {a: 1}\n',
    'env/apps/shop.yaml': 'spec: {replicas: 2, from: moved, list: [{a: 1}, {a: 2}]}\n',
    'env/teams/blue/settings.yaml': 'spec: {quota: 1}\n',
    'env/teams/red/settings.yaml': 'spec: {quota: 2}\n',
    'env/junk.yaml': '',
  });
  const changes: ValuesChange[] = [
    { version: 3, mutations: [{ 'apps.shop.replicas': 'mul .prev 10' }] },
    {
      version: 2,
      renamings: [{ 'env/apps/old.yaml': 'env/apps/new.yaml' }],
      fileAdditions: ['env/apps/added.yaml'],
      additions: [{ 'teamConfig.{team}.settings.mode': 'strict' }],
      bulkAdditions: [{ 'apps.shop.bulk': 'bulk.json' }],
      relocations: [{ 'apps.shop.from': 'apps.shop.to' }],
      mutations: [{ 'apps.shop.replicas': 'add .prev 1' }, { 'apps.shop.list[].a': 7 }],
      customFunctions: ['count'],
      deletions: ['apps.gone'],
      fileDeletions: ['env/junk.yaml'],
    },
  ];
  const count = (tree: Tree) => void ((tree['apps'] as Record<string, Tree>)['shop']!['counted'] = true);
  expect(await migrate(changes, { count })).toEqual([2, 3]);
  const { tree } = await loadValues(directory);
  expect(tree['apps']).toEqual({
    new: { kept: 1, password: 'a' },
    added: {},
    shop: { replicas: 30, to: 'moved', list: [{ a: 7 }, { a: 7 }], bulk: { bulk: true }, counted: true },
  });
  expect(tree['teamConfig']).toMatchObject({
    blue: { settings: { quota: 1, mode: 'strict' } },
    red: { settings: { mode: 'strict' } },
  });
  expect(tree['versions']).toEqual({ specVersion: 3 });
  expect(await migrate(changes, { count })).toEqual([]);
});

test('DEFECT: an app that is relocated as a whole leaves no file behind, neither plain nor secret', async () => {
  await writeFiles(directory, {
    'env/settings/versions.yaml': 'spec: {specVersion: 1}\n',
    'env/apps/old.yaml': 'spec: {replicas: 2}\n',
    'env/apps/secrets.old.yaml': 'spec: {password: a}\n',
  });
  await migrate([{ version: 2, relocations: [{ 'apps.old': 'apps.new' }] }]);
  expect((await loadValues(directory)).tree['apps']).toEqual({ new: { replicas: 2, password: 'a' } });
});

test('a repository without a version is as new as the platform: nothing is migrated', async () => {
  await writeFiles(directory, { 'env/apps/shop.yaml': handWritten });
  expect(await migrate([{ version: 9, deletions: ['apps.shop'] }])).toEqual([]);
});

test('an unknown operation and an unknown function are errors, before anything was written', async () => {
  await writeFiles(directory, { 'env/settings/versions.yaml': 'spec: {specVersion: 1}\n' });
  await expect(migrate([{ version: 2, deleteions: [] } as ValuesChange])).rejects.toMatchObject({ code: 'Migration' });
  const early = { version: 2, fileAdditions: ['env/apps/early.yaml'] };
  await expect(migrate([early, { version: 3, customFunctions: ['none'] }])).rejects.toMatchObject({
    code: 'Migration',
    message: 'Custom migration function none not found',
  });
  expect(await readdir(join(directory, 'env'))).toEqual(['settings']);
  await expect(migrate([{ version: 2, fileDeletions: ['../x'], fileAdditions: ['../x'] }])).rejects.toMatchObject({
    code: 'Migration',
  });
  expect((await loadValues(directory)).tree['versions']).toEqual({ specVersion: 1 });
});
