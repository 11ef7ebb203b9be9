import { writeFile } from 'node:fs/promises';
import type { Client, KubeObject } from '@slipway/kube';
import { generateAgeKey } from '@slipway/sops';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';

import { writeFiles } from '../../test/git-kit.ts';
import { stepPlatform } from '../../test/step-kit.ts';
import { GitError } from '../git/git-error.ts';
import type { WorkingCopy } from '../git/working-copy.ts';
import { migrate } from '../platform/migrate.ts';
import { ensureTeamGitOpsDirectories } from '../platform/team-directories.ts';
import { storedSecrets } from '../secrets/stored-secrets.ts';
import { bootstrap } from './bootstrap.ts';
import { bootstrapSops } from './bootstrap-sops.ts';
import { copyBasicFiles } from './copy-basic-files.ts';
import { handleFileEntry } from './handle-file-entry.ts';
import { processValues } from './process-values.ts';
import { validateCluster } from './validate-cluster.ts';
import { valuesInput } from './values-input.ts';

const clusterOf = (serverVersion: () => Promise<unknown>) => ({ serverVersion }) as unknown as Client;

test('validateCluster(): a Kubernetes that is too old is refused with the version it takes', async () => {
  await using step = await stepPlatform({ client: clusterOf(async () => ({ gitVersion: 'v1.28.9' })) });
  await expect(validateCluster(step.platform)).rejects.toMatchObject({
    code: 'ClusterTooOld',
    message: 'Kubernetes v1.28.9 is too old; upgrade the cluster to 1.29 or newer',
  });
});

test.each(['v1.29.0', 'v1.36.3+k3s1', 'v2.0.0'])('validateCluster(): %s will do', async (gitVersion) => {
  await using step = await stepPlatform({ client: clusterOf(async () => ({ gitVersion })) });
  await validateCluster(step.platform);
});

test('validateCluster(): a cluster that does not tell its version is given the benefit of the doubt', async () => {
  const silent = clusterOf(async () => {
    throw new Error('no answer');
  });
  await using step = await stepPlatform({ client: silent });
  await validateCluster(step.platform);
  expect(step.logs).toMatchObject([{ level: 'warn', message: 'the cluster does not tell its version' }]);
});

test('copyBasicFiles(): a repository begins with what Git ignores, what editors know and a read-me; again, nothing changes', async () => {
  await using step = await stepPlatform();
  await copyBasicFiles(step.platform);
  const files = await step.files();
  expect(files['.gitignore']).toContain('.decrypted~*');
  for (const name of ['README.md', '.editorconfig', '.vscode/values-schema.yaml', 'core.yaml'])
    expect(files[name]).not.toHaveLength(0);
  await copyBasicFiles(step.platform);
  expect(await step.files()).toEqual(files);
});

/** As an installation of the first version of the reference platform left it. */
const old = {
  'env/settings/versions.yaml': 'kind: AplVersion\nspec: {specVersion: 0}\n',
  'env/settings/cluster.yaml': 'kind: AplCluster\nspec: {name: dev, domain: dev.example.com}\n',
  'env/apps/dashboard.yaml': 'kind: AplApp\nspec: {replicas: "2"}\n',
  'env/apps/legacy.yaml': 'kind: AplApp\nspec: {enabled: true}\n',
  'env/apps/secrets.legacy.yaml': 'kind: AplApp\nspec: {password: old}\n',
  'env/teams/red/settings.yaml': 'kind: AplTeamSettingSet\nspec: {}\n',
  'env/teams/red/workloads/web.yaml': 'kind: AplTeamWorkload\nmetadata: {name: web}\nspec: {image: nginx}\n',
  'env/bootstrap.yaml': 'x: 1\n',
};

test('migrate(): values of the first version become those of this one; again, nothing changes', async () => {
  await using step = await stepPlatform({ files: old });
  await migrate(step.platform);
  expect(await step.platform.layers.values('files')).toMatchObject({
    versions: { specVersion: 2 },
    cluster: { name: 'dev', domainSuffix: 'dev.example.com' },
    apps: { console: { replicas: 2 } },
    teamConfig: {
      red: { settings: { resourceQuota: { pods: 50 } }, workloads: [{ name: 'web', image: 'nginx:latest' }] },
    },
  });
  const files = await step.files();
  // TRAP: saving deletes nothing, and a file that stayed would bring back what was deleted.
  for (const gone of ['apps/dashboard', 'apps/legacy', 'apps/secrets.legacy', 'bootstrap'])
    expect(files).not.toHaveProperty([`env/${gone}.yaml`]);
  await migrate(step.platform);
  expect(await step.files()).toEqual(files);
});

test('handleFileEntry(): the files that values bring along are written as they are; again, nothing changes', async () => {
  const brought = { 'env/teams/red/workloadValues/web.yaml': 'a: 1\n', 'docs/hello.md': 'hello' };
  await using step = await stepPlatform({ values: { files: brought } });
  await handleFileEntry(step.platform);
  expect(await step.files()).toEqual(brought);
  await handleFileEntry(step.platform);
  expect(await step.files()).toEqual(brought);
});

test('handleFileEntry(): without files there is nothing to do', async () => {
  await using step = await stepPlatform({ values: { cluster: { name: 'dev' } } });
  await handleFileEntry(step.platform);
  expect(await step.files()).toEqual({});
});

test.each(['../outside', '/etc/motd', '.git/hooks/pre-push', 'env/../../outside'])(
  'handleFileEntry(): %s is no place in the repository',
  async (path) => {
    await using step = await stepPlatform({ values: { files: { [path]: 'x' } } });
    await expect(handleFileEntry(step.platform)).rejects.toThrow(`files: '${path}' is not a place`);
    expect(await step.files()).toEqual({});
  },
);

const kmsFile = (spec: string) => ({ 'env/settings/kms.yaml': `kind: AplKms\nspec: {sops: ${spec}}\n` });
const keyFile = (privateKey: string) => ({
  'env/settings/secrets.kms.yaml': `kind: AplKms\nspec: {sops: {age: {privateKey: ${privateKey}}}}\n`,
});

test('bootstrapSops(): .sops.yaml says for whom secrets are encrypted, and the key is taken; again, nothing changes', async () => {
  const { identity, recipient } = await generateAgeKey();
  const files = { ...kmsFile(`{provider: age, age: {publicKey: ${recipient}}}`), ...keyFile(identity) };
  await using step = await stepPlatform({ files });
  await bootstrapSops(step.platform);
  const after = await step.files();
  expect(after['.sops.yaml']).toContain(recipient);
  expect(after['.sops.yaml']).not.toContain(identity);
  expect(after['.gitattributes']).toBe('secrets.*.yaml diff=sopsdiffer\n');
  expect(step.platform.keys).toEqual(new Set([identity]));
  await bootstrapSops(step.platform);
  expect(await step.files()).toEqual(after);
  expect(step.platform.keys.size).toBe(1);
});

test('bootstrapSops(): a private key that is ciphertext counts as absent', async () => {
  const files = { ...kmsFile('{provider: age, age: {publicKey: age1x}}'), ...keyFile("'ENC[AES256_GCM,data:x]'") };
  await using step = await stepPlatform({ files });
  await bootstrapSops(step.platform);
  expect(step.platform.keys).toEqual(new Set());
});

test('bootstrapSops(): without a provider secrets stay in clear, and it says so', async () => {
  await using step = await stepPlatform();
  await bootstrapSops(step.platform);
  expect(await step.files()).toEqual({});
  expect(step.logs).toMatchObject([{ level: 'warn', message: expect.stringContaining('in clear text') }]);
});

test('bootstrapSops(): another provider than age is refused by name', async () => {
  await using step = await stepPlatform({ files: kmsFile('{provider: aws}') });
  await expect(bootstrapSops(step.platform)).rejects.toThrow("kms.sops.provider: 'aws' is not supported; use age");
});

test('valuesInput(): what cannot be read, holds nothing or was never named is refused with what to do', async () => {
  await using step = await stepPlatform();
  const { settings } = step.platform;
  const refused = async (path: string | undefined) =>
    await valuesInput({ ...step.platform, settings: { ...settings, valuesInput: path } }).catch(
      (error: unknown) => error,
    );
  const empty = `${settings.envDir}/empty.yaml`;
  await writeFiles(settings.envDir, { 'empty.yaml': '# nothing\n' });
  for (const [path, message] of [
    [undefined, 'VALUES_INPUT is not set; let it name the file with the values of the first installation'],
    ['/nowhere.yaml', 'VALUES_INPUT: /nowhere.yaml cannot be read (ENOENT); let it name a YAML file'],
    [empty, `VALUES_INPUT: ${empty} holds no values; give at least those the schema requires`],
  ] as const)
    expect(await refused(path)).toMatchObject({ name: 'OperatorError', code: 'InvalidValuesInput', message });
});

test('ensureTeamGitOpsDirectories(): every team has its folders, and what is in them stays; again, nothing changes', async () => {
  const present = {
    'env/teams/red/settings.yaml': 'kind: AplTeamSettingSet\n',
    'env/teams/red/sealedsecrets/.gitkeep': 'kept by somebody\n',
    'env/teams/blue/workloadValues/web.yaml': 'a: 1\n',
  };
  await using step = await stepPlatform({ files: present });
  await ensureTeamGitOpsDirectories(step.platform.directory);
  const files = await step.files();
  expect(files).toEqual({
    ...present,
    'env/teams/red/workloadValues/.gitkeep': '',
    'env/teams/blue/sealedsecrets/.gitkeep': '',
    'env/teams/blue/workloadValues/.gitkeep': '',
  });
  await ensureTeamGitOpsDirectories(step.platform.directory);
  expect(await step.files()).toEqual(files);
});

/** A cluster that keeps what is applied, and nothing else. */
function keepingCluster(): Client {
  const kept = new Map<string, KubeObject>();
  const id = (kind: string, { namespace = '', name = '' }: { namespace?: string; name?: string }) =>
    `${kind}/${namespace}/${name}`;
  return {
    get: async ({ kind }: { kind: string }, key: { namespace: string; name: string }) => kept.get(id(kind, key)),
    apply: async (object: KubeObject) => void kept.set(id(object.kind, object.metadata), object),
  } as unknown as Client;
}

const given = {
  cluster: { name: 'dev', domainSuffix: 'dev.example.com' },
  kms: { sops: { provider: 'age' } },
  apps: { gitea: { adminPassword: 'first' } },
};

test('processValues(): a value that was mended for the next attempt wins over what the last one stored; all else stays', async () => {
  const client = keepingCluster();
  await using step = await stepPlatform({ values: given, client });
  await processValues(step.platform);
  const { users, kms } = await storedSecrets(client);
  const mended = { ...given, apps: { gitea: { adminPassword: 'second' } } };
  await writeFile(step.platform.settings.valuesInput!, stringify(mended));
  await processValues(step.platform);
  expect(await step.platform.layers.values('files')).toMatchObject({ apps: { gitea: { adminPassword: 'second' } } });
  expect(await storedSecrets(client)).toMatchObject({ users, kms });
});

test('bootstrap(): a Git server that the platform itself brings is not there yet, and nobody waits for it', async () => {
  const copy = {
    prepare: async () => undefined,
    remoteRevision: async () => {
      throw new GitError('Unreachable', 'nobody answers');
    },
  } as unknown as WorkingCopy;
  await using step = await stepPlatform({
    values: { ...given, teamConfig: { red: { settings: { resourceQuota: { pods: 5 } } } } },
    client: keepingCluster(),
    change: { repository: () => copy },
  });
  await bootstrap(step.platform);
  const files = await step.files();
  expect(files['env/apps/secrets.gitea.yaml']).toContain('ENC[AES256_GCM');
  expect(files['env/apps/secrets.gitea.yaml.dec']).toContain('first');
  // Defaults are written back.
  expect(files['env/teams/red/policies/require-labels.yaml']).toContain('Audit');
});
