import { createServer, type AddressInfo } from 'node:net';
import type { OperatorDescription } from '@slipway/runtime';

import type { TestCluster, TestManager } from './test-cluster.ts';

/**
 * Runs an operator as `slipway run` does: its controllers under its default settings, its webhooks served and registered.
 * Webhooks need a cluster with `time: 'machine'`, because TLS looks at the clock of the machine.
 *
 * @param flags settings by name, in the place of defaults
 */
export async function runOperator(
  cluster: TestCluster,
  operator: OperatorDescription,
  flags: Readonly<Record<string, string>> = {},
): Promise<TestManager> {
  const defaults = (operator.flags ?? []).map((flag) => [flag.name, flag.default] as const);
  const settings = { flags: { ...Object.fromEntries(defaults), ...flags }, env: {} };
  const { webhooks = [] } = operator;
  const controllers = operator.controllers(settings);
  if (webhooks.length === 0) return await ready(cluster, await cluster.run(controllers));
  const port = await freePort();
  const name = `${operator.name}-webhooks`;
  const running = await cluster.run(controllers, {
    webhooks: {
      webhooks,
      port,
      host: '127.0.0.1',
      address: { url: `https://127.0.0.1:${port}` },
      configuration: name,
      certificates: { secret: { namespace: 'default', name } },
    },
  });
  return await ready(cluster, running);
}

async function ready(cluster: TestCluster, running: TestManager): Promise<TestManager> {
  let done = false;
  const finished = running.manager.ready.then(() => (done = true));
  await Promise.all([finished, cluster.eventually('the operator is ready', () => done)]);
  return running;
}

/** A port nobody listens on: the API server is told the address before the webhooks are served. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}
