import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { CustomResourceDefinition } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { BtpOperator, ServiceInstance } from '../src/api.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  isGone,
  primary,
  reaches,
  readyCluster,
  serviceInstance,
  type BtpTestCluster,
} from './kit.ts';

const health = { health: { port: 0, host: '127.0.0.1' } } as const;

async function readiness(port: number | undefined): Promise<string> {
  const [response] = (await once(get({ port, path: '/readyz?verbose' }), 'response')) as [IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString();
  return `${response.statusCode} ${response.statusCode === 200 ? '' : text}`.trim();
}

const definition = { name: 'serviceinstances.services.cloud.sap.com' };
const definitionIsGone = (cluster: BtpTestCluster) =>
  cluster.eventually(
    'the definition is gone',
    async () => (await cluster.client.get(CustomResourceDefinition, definition)) === undefined,
  );

describe('service instances and bindings, whose kinds come and go', () => {
  test('a BtpOperator that is deleted while their definitions are absent leaves the process ready', async () => {
    await using cluster = await btpCluster([]);
    const { manager, logs } = await cluster.run([btpController()], health);
    await cluster.client.create(btpOperator());
    await reaches(cluster, 'MissingSecret');
    await cluster.client.delete(BtpOperator, primary);
    await isGone(cluster);
    await cluster.advance(1000);
    await cluster.eventually('the process is ready', async () => {
      expect(await readiness(manager.ports.health)).toBe('200');
      return true;
    });
    expect(JSON.stringify(logs.filter(({ level }) => level === 'warn'))).not.toContain('services.cloud.sap.com');
  });

  test('when their definitions go, their watches end, without a word about a kind that is not found', async () => {
    await using cluster = await readyCluster();
    const { manager, logs } = cluster.manager;
    await cluster.client.delete(BtpOperator, primary);
    await isGone(cluster);
    await definitionIsGone(cluster);
    await cluster.advance(5000);
    const kinds = manager
      .cluster()
      .cache.status()
      .map(({ kind }) => kind.kind);
    expect(kinds).not.toContain('ServiceInstance');
    expect(kinds).not.toContain('ServiceBinding');
    expect(JSON.stringify(logs.filter(({ level }) => level !== 'info'))).not.toMatch(
      /service(instance|binding)s?\b.*404/i,
    );
  });

  test('definitions that come back are watched again: the deletion goes on at once when the last instance goes', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    await client.delete(CustomResourceDefinition, definition);
    await cluster.eventually('the manager has made the definition again', async () => {
      await client.create(serviceInstance('one'));
      return true;
    });
    await client.delete(BtpOperator, primary);
    await reaches(cluster, 'ServiceInstancesAndBindingsNotCleaned');
    await client.delete(ServiceInstance, { namespace: 'default', name: 'one' });
    await isGone(cluster, 20_000);
  });

  test('a definition that is deleted takes its instances along, and the deletion goes on at once', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    await client.create(serviceInstance('one'));
    await client.delete(BtpOperator, primary);
    await reaches(cluster, 'ServiceInstancesAndBindingsNotCleaned');
    await client.delete(CustomResourceDefinition, definition);
    await isGone(cluster, 20_000);
  });
});
