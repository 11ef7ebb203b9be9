import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { PodVolumes } from './pod-volumes.ts';
import type { RunnablePod } from './running-pod.ts';

const root = await mkdtemp(join(tmpdir(), 'pod-volumes-'));
afterAll(() => rm(root, { recursive: true, force: true }));

const pod = {
  metadata: { namespace: 'default', name: 'server', uid: '1' },
  spec: { containers: [], volumes: [{ name: 'tls', secret: { secretName: 'tls' } }] },
} as unknown as RunnablePod;

/** Volumes of a pod whose Secret is another one each time somebody looks. */
function restlessVolumes(folder: string): PodVolumes {
  let version = 0;
  return new PodVolumes({
    pod,
    place: { podAddress: '10.0.0.1', hostAddress: '10.0.0.2' },
    objects: {
      secret: async () => ({
        metadata: { namespace: 'default', name: 'tls' },
        data: { version: Buffer.from(String((version += 1))).toString('base64') },
      }),
      configMap: async () => undefined,
    },
    folder,
    claimsFolder: join(folder, 'claims'),
    requestToken: () => Promise.reject(new Error('nobody needs a token')),
  });
}

test('a Secret that changes while its files are being written is written next', async () => {
  const volumes = restlessVolumes(join(root, 'many'));
  await Promise.all(Array.from({ length: 10 }, () => volumes.sync()));
  expect(await readFile(join(root, 'many', 'tls', 'version'), 'utf8')).toBe('10');
});

test('a pod that ends while its Secret changes can be removed: nothing comes back into its folder', async () => {
  const folder = join(root, 'ending');
  const volumes = restlessVolumes(folder);
  await volumes.sync();
  const late = [volumes.sync(), volumes.close(), volumes.sync()];
  await late[1];
  await rm(folder, { recursive: true });
  await Promise.all(late);
  expect(await readdir(root)).not.toContain('ending');
});
