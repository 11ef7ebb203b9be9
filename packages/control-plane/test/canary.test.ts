import { Event, type KubeObject, Secret } from '@slipway/kube';
import type { TestManager } from '@slipway/testing';
import { expect, test } from 'vitest';

import { Authentication, Landscaper } from '../src/api/components.ts';
import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { componentTypes, externalStatusOf, kindOf } from '../src/component/component-type.ts';
import { canary } from '../src/testing/index.ts';
import { clientSecret, key, Landscape, mcp } from './landscape.ts';

/** The token our controllers got, as it lies in its Secret. */
async function adminToken({ cluster: { client } }: Landscape): Promise<string> {
  const secret = await client.get(Secret, { ...key, name: `${key.name}.apiserver-admin` });
  const kubeconfig = Buffer.from(secret?.data?.['kubeconfig'] ?? '', 'base64').toString();
  return /token: (\S+)/.exec(kubeconfig)![1]!;
}

/** Everything customers and readers of logs can see. */
async function visible(landscape: Landscape, { logs, manager }: TestManager): Promise<string> {
  const { client } = landscape.cluster;
  const events: KubeObject[] = [];
  for await (const event of client.list(Event)) events.push(event as unknown as KubeObject);
  const components = await Promise.all(
    componentTypes.map(async (type) => {
      const { status = {}, metadata } = ((await client.get(kindOf(type), key)) ?? { metadata: {} }) as KubeObject & {
        status?: Record<string, unknown>;
      };
      return [metadata, status['conditions'], externalStatusOf(type).map((field) => status[field])];
    }),
  );
  const plain = (_name: string, value: unknown): unknown =>
    value instanceof Error ? { message: value.message, stack: value.stack, cause: value.cause } : value;
  return [
    JSON.stringify([events, components, await client.get(ManagedControlPlane, key), logs], plain),
    await manager.registry.metrics(),
  ].join('\n');
}

test('no credential gets into a condition, a log, an event, a metric or an external status', async () => {
  await using landscape = await Landscape.open();
  const { client } = landscape.cluster;
  const running = await landscape.run();
  const seen: string[] = [];
  const look = async () => void seen.push(await visible(landscape, running));
  await client.create(mcp());
  await landscape.ready();
  await look();
  const token = await adminToken(landscape);

  // The way there is broken, and the error quotes what it was given.
  landscape.reachable = false;
  const providers = [{ name: 'other', issuerURL: 'https://x', clientID: 'c', usernameClaim: 's' }];
  const body = { spec: { authentication: { identityProviders: providers } } };
  await client.patch(ManagedControlPlane, key, { type: 'merge', body });
  const failed = await landscape.cluster.eventually('the failure shows', async () =>
    (await client.get(Authentication, key))?.status?.conditions?.find(({ status }) => status === 'False'),
  );
  expect(failed.message).toBeTruthy();
  await look();
  await client.delete(ManagedControlPlane, key);
  await landscape.cluster.eventually('it says that it goes', async () => {
    const { status } = (await client.get(ManagedControlPlane, key))!;
    return status?.status === 'Deleting';
  });
  await landscape.cluster.eventually('one cannot go', async () =>
    (await client.get(Landscaper, key))?.status?.conditions?.some(({ status }) => status !== 'True'),
  );
  await look();
  landscape.reachable = true;
  await landscape.gone();
  await look();

  for (const [index, text] of seen.entries()) {
    for (const secret of [canary, clientSecret, token, Buffer.from(canary).toString('base64')]) {
      expect(text.includes(secret), `look ${index}, ${secret.slice(0, 12)}`).toBe(false);
    }
  }
});
