import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { newObject, Namespace, Secret } from '@slipway/kube';
import { testCluster, VirtualClock } from '@slipway/testing';
import { expect, test } from 'vitest';

import { Checkout } from '../src/sync/source/checkout.ts';
import { GitSources } from '../src/sync/source/git-sources.ts';
import { credentialsFor } from '../src/sync/source/source-credentials.ts';
import { credentials, gitWorld } from './git-kit.ts';

const { signal } = new AbortController();
const asUser = async () => credentials;

test(
  'a branch is looked up once in a while, a commit is fetched once, and old checkouts go',
  { timeout: 300_000 },
  async () => {
    await using git = await gitWorld();
    const clock = new VirtualClock();
    const directory = join(git.folder, 'sources');
    const make = () => new GitSources({ directory, clock, refreshMs: 1000, timeoutMs: 60_000, keep: 2 });
    const sources = make();
    const read = async (from: GitSources, revision: string) => {
      const resolved = await from.resolve(git.server.url, revision, asUser, signal);
      return await from.use(git.server.url, resolved, asUser, signal, (folder) =>
        readFile(join(folder, 'a.txt'), 'utf8'),
      );
    };
    const first = await git.push({ 'a.txt': '1' }, 'one');
    expect(await read(sources, 'main')).toBe('1');
    await git.push({ 'a.txt': '2' }, 'two');
    expect(await read(sources, 'main')).toBe('1');
    await clock.advance(1000);
    expect(await read(sources, '')).toBe('2');
    // A commit needs no look at branches, and a new process finds the checkout of the old one.
    expect(await read(make(), first)).toBe('1');
    const third = await git.push({ 'a.txt': '3' }, 'three');
    sources.forget();
    expect(await read(sources, 'main')).toBe('3');
    const [repository] = await readdir(directory);
    const kept = await readdir(join(directory, repository!));
    expect(kept).toHaveLength(2);
    // Whoever was asked for last stays.
    expect(kept).toContain(third);
    expect(kept).not.toContain(first);
    await expect(sources.resolve(git.server.url, 'gone', asUser, signal)).rejects.toThrow("no branch or tag 'gone'");
    await expect(make().resolve(git.server.url, 'main', async () => undefined, signal)).rejects.toThrow('refuses');
  },
);

test('nothing outside of a checkout is read, whatever paths and links say', async () => {
  await using git = await gitWorld();
  const root = join(git.folder, 'checkout');
  await mkdir(root);
  await symlink('/etc', join(root, 'out'));
  const checkout = new Checkout(root);
  for (const path of ['../server', 'out', 'out/passwd', '/../..'])
    await expect(checkout.text(path)).rejects.toThrow(/leads out of the repository|no such file/);
});

test('credentials: those of the very repository, else of the longest beginning, else of the platform for its own server', async () => {
  await using cluster = await testCluster();
  const { client } = cluster;
  for (const name of ['argocd', 'apl-operator'])
    if (!(await client.get(Namespace, { name }))) await client.create(newObject(Namespace, { metadata: { name } }));
  const secret = async (namespace: string, name: string, type: string | undefined, data: Record<string, string>) => {
    const labels: Record<string, string> = type === undefined ? {} : { 'argocd.argoproj.io/secret-type': type };
    await client.create(newObject(Secret, { metadata: { namespace, name, labels }, stringData: data }));
  };
  await secret('argocd', 'a', 'repo-creds', { url: 'https://git.example.com', username: 'all', password: '1' });
  await secret('argocd', 'b', 'repo-creds', { url: 'https://git.example.com/team', username: 'team', password: '2' });
  await secret('argocd', 'c', 'repository', {
    url: 'https://git.example.com/team/shop.git',
    username: 'shop',
    password: '3',
  });
  await secret('argocd', 'd', undefined, { url: 'https://other.example.com', username: 'x', password: '4' });
  await secret('apl-operator', 'gitea-credentials', undefined, { GIT_USERNAME: 'own', GIT_PASSWORD: '5' });
  const own = 'http://gitea.example.com:3000/otomi/values.git';
  const who = async (url: string) => (await credentialsFor(client, url, own, signal))?.username;
  expect(await who('https://git.example.com/team/shop')).toBe('shop');
  expect(await who('https://git.example.com/team/other.git')).toBe('team');
  expect(await who('https://git.example.com/teams/x.git')).toBe('all');
  expect(await who('https://git.example.com.evil.net/x.git')).toBeUndefined();
  expect(await who('https://other.example.com/x.git')).toBeUndefined();
  expect(await who('http://gitea.example.com:3000/otomi/platform.git')).toBe('own');
});
