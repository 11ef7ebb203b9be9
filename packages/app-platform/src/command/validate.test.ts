import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { writeFiles } from '../../test/git-kit.ts';
import { validateCommand } from './validate.ts';

async function validate(files: Record<string, string>): Promise<{ code: unknown; out: string; err: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-validate-'));
  const said = { out: '', err: '' };
  const terminal = {
    cwd: directory,
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
  };
  try {
    await writeFiles(directory, files);
    const code = await validateCommand.run!({ terminal, args: ['.'], flags: { platform: undefined } } as never);
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

test('a folder that is no values repository is said to be none', async () => {
  await expect(validate({ 'README.md': '' })).rejects.toThrow('no values repository');
});
