import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startCluster } from '../cluster.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'slipway-token-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

interface Config {
  clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  users: [{ user: Record<string, string> }];
}

function statusFor(config: Config, token?: string): Promise<number> {
  const { server, 'certificate-authority-data': authority } = config.clusters[0].cluster;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${server}/api/v1/namespaces`,
      {
        ca: Buffer.from(authority, 'base64'),
        agent: false,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode!);
      },
    );
    outgoing.once('error', reject);
    outgoing.end();
  });
}

it('with a token in the kubeconfig nobody else comes in, and it outlives a restart', async () => {
  const options = { dataDir, port: 0, tls: true, access: 'token', controllers: 'none' } as const;
  const first = await startCluster(options);
  const config = parse(first.kubeconfig) as Config;
  const { token } = config.users[0].user;
  expect(Object.keys(config.users[0].user)).toEqual(['token']);
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(await statusFor(config)).toBe(401);
  expect(await statusFor(config, 'wrong')).toBe(401);
  expect(await statusFor(config, '')).toBe(401);
  expect(await statusFor(config, token)).toBe(200);
  await first.stop();
  expect((await stat(join(dataDir, 'admin-token'))).mode & 0o777).toBe(0o600);
  await using second = await startCluster(options);
  const again = parse(second.kubeconfig) as Config;
  expect(await statusFor(again, token)).toBe(200);
});

it('no two clusters share a token, not even with the same clock and chance', async () => {
  const random = { next: () => 0.5, uuid: () => '00000000-0000-4000-8000-000000000000' };
  const tokenOf = async () => {
    await using cluster = await startCluster({ access: 'token', controllers: 'none', random });
    return (parse(cluster.kubeconfig) as Config).users[0].user['token'];
  };
  expect(await tokenOf()).not.toBe(await tokenOf());
});

it('a kubeconfig written over one that everybody could read is for its owner only', async () => {
  const file = join(dataDir, 'kubeconfig');
  await writeFile(file, 'something longer than a kubeconfig'.repeat(1_000), { mode: 0o644 });
  await using cluster = await startCluster({ access: 'token', controllers: 'none' });
  await cluster.writeKubeconfig(file);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, 'utf8')).toBe(cluster.kubeconfig);
});
