import { expect, test } from 'vitest';
import { ServiceAccountTokens } from '../auth/service-account-tokens.ts';
import { localClient } from '../local-client.ts';
import { adminUser } from '../auth/auth.ts';
import { startCluster } from '../cluster.ts';
import { systemRandom } from '../random.ts';
import { VirtualClock } from '../virtual-clock.ts';
import { startControllers } from './start-controllers.ts';

test('a token Secret is filled, and goes with its ServiceAccount', async () => {
  const clock = new VirtualClock();
  await using cluster = await startCluster({ clock, controllers: 'none' });
  const { store } = cluster.server;
  const objects = {
    lookup: (storageId: string, namespace: string | undefined, name: string) =>
      store.get(storageId, namespace ? `${namespace}/${name}` : name)?.object,
    *scan(storageId: string) {
      for (const { object } of store.list(storageId)) {
        yield object;
      }
    },
  };
  const serviceAccountTokens = new ServiceAccountTokens({ objects, clock, random: systemRandom });
  // Making the RSA key takes time that no virtual clock shortens.
  await serviceAccountTokens.keySet();
  const client = localClient(cluster.server, { user: adminUser });
  const controllers = startControllers({ client, clock, random: systemRandom, serviceAccountTokens, rootCa: 'PEM' });
  try {
    const secrets = { group: '', version: 'v1', plural: 'secrets', namespace: 'default' };
    const accounts = { group: '', version: 'v1', plural: 'serviceaccounts', namespace: 'default' };
    await client.create(accounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'robot', namespace: 'default' },
    });
    await client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'robot-token',
        namespace: 'default',
        annotations: { 'kubernetes.io/service-account.name': 'robot' },
      },
      type: 'kubernetes.io/service-account-token',
    });
    await clock.settle();
    const { data } = (await client.get({ ...secrets, name: 'robot-token' })) as { data?: Record<string, string> };
    const token = Buffer.from(data!['token']!, 'base64').toString();
    expect((await serviceAccountTokens.verify(token))?.user.name).toBe('system:serviceaccount:default:robot');
    expect(Buffer.from(data!['ca.crt']!, 'base64').toString()).toBe('PEM');
    await client.delete({ ...accounts, name: 'robot' });
    await clock.settle();
    await expect(client.get({ ...secrets, name: 'robot-token' })).rejects.toMatchObject({ status: { code: 404 } });
  } finally {
    controllers.stop();
  }
});
