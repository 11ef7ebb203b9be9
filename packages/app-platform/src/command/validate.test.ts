import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { writeFiles } from '../../test/git-kit.ts';
import { validateCommand } from './validate.ts';

async function validate(
  files: Record<string, string>,
  dir = '.',
): Promise<{ code: unknown; out: string; err: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-validate-'));
  const said = { out: '', err: '' };
  const terminal = {
    cwd: directory,
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
  };
  try {
    await writeFiles(directory, files);
    const code = await validateCommand.run!({ terminal, args: [dir], flags: { platform: undefined } } as never);
    return { code, ...said };
  } finally {
    await rm(directory, { recursive: true });
  }
}

const cluster = { 'env/settings/cluster.yaml': 'spec: {name: dev}\n' };

test('a valid repository passes, without the key of its secrets', async () => {
  const sealed = { 'env/apps/secrets.gitea.yaml': 'kind: ENC\nspec: {adminPassword: ENC}\nsops: {}\n' };
  expect(await validate({ ...cluster, ...sealed })).toEqual({ code: 0, out: '1 file is valid\n', err: '' });
});

test('a file whose kind belongs elsewhere is named, and what it should be', async () => {
  const { code, err } = await validate({ ...cluster, 'env/apps/console.yaml': 'kind: AplTeamWorkload\nspec: {}\n' });
  expect([code, err]).toEqual([1, 'env/apps/console.yaml:1: kind: must be AplApp, as env/apps says\n']);
});

test('a secret in clear, and one that nobody can decrypt, are named in a repository that encrypts', async () => {
  const { code, err } = await validate({
    ...cluster,
    '.sops.yaml': 'creation_rules: []\n',
    'env/apps/secrets.console.yaml': 'spec: {cookieSecret: hush-hush}\n',
    'env/apps/secrets.gitea.yaml': 'spec: {adminPassword: ENC}\nsops: {age: 5}\n',
  });
  expect(code).toBe(1);
  expect(err).not.toContain('hush');
  expect(err.split('\n')).toEqual([
    'env/apps/secrets.console.yaml: is not encrypted; slipway sops encrypt -i env/apps/secrets.console.yaml',
    expect.stringMatching(/^env\/apps\/secrets.gitea.yaml: cannot be decrypted by anybody: ./),
    '',
  ]);
});

test('files that nobody reads are named, and are no failure', async () => {
  const { code, err } = await validate({
    ...cluster,
    'env/apps/console.yml': 'spec: {}\n',
    'env/team/red/settings.yaml': 'spec: {}\n',
    'env/teams/red/workloadValues/web.yaml': 'as: it is\n',
  });
  expect(code).toBe(0);
  expect(err.match(/env\S+/g)).toEqual(['env/apps/console.yml', 'env/team/red/settings.yaml']);
});

test('a broken value fails with file, line and path', async () => {
  const { code, err } = await validate({ ...cluster, 'env/apps/console.yaml': 'spec:\n  replicas: many\n' });
  expect(code).toBe(1);
  expect(err).toBe('env/apps/console.yaml:2: apps.console.replicas: must be integer\n');
});

test.each<[what: string, files: Record<string, string>, dir: string, message: string]>([
  ['is not there', {}, 'nowhere', 'there is no folder nowhere'],
  ['is something else', { 'README.md': '' }, '.', '. is no values repository: it has no folder env'],
  ['is a platform', { 'values-schema.yaml': '{}\n' }, '.', '. is a platform, not a values repository'],
  ['has no values yet', { 'env/README.md': '' }, '.', '. is no values repository: there are no files below env'],
])('a folder that %s is said to be so', async (_what, files, dir, message) => {
  await expect(validate(files, dir)).rejects.toMatchObject({ exitCode: 2, message });
});

test('values of an older version are checked as they are, with a note that the operator migrates them', async () => {
  const versions = { 'env/settings/versions.yaml': 'spec: {specVersion: 1}\n' };
  const { code, err } = await validate({ ...cluster, ...versions });
  expect([code, err]).toEqual([0, 'note: the values are of version 1; the operator migrates them before it checks\n']);
});
