import { findConnection, connect, newObject, Secret } from '@slipway/kube';
import { startManager } from '@slipway/runtime';

import { clusterIdSecret, managedLabel } from '../service-operator-facts.ts';
import { CommandLineError, parseFlags } from './command-line.ts';
import { readConfiguration, type Configuration } from './configuration.ts';
import { serviceControllers } from './controllers.ts';
import { serveWebhooks } from './webhooks.ts';

/** The real one panics, which is exit code 2 too. */
class ClusterIdChanged extends Error {}

/** The stand-in for the SAP BTP service operator: as strict as the real one about all it is given. */
async function main(args: readonly string[]): Promise<void> {
  const flags = parseFlags(args);
  const configuration = readConfiguration(process.env);
  const connection = await findConnection(flags.kubeconfig ? { file: flags.kubeconfig } : {});
  await keepClusterId(configuration, connection);
  await using _webhooks = configuration.webhooks ? await serveWebhooks(configuration.temporaryFolder) : undefined;
  const manager = await startManager({
    name: 'sap-btp-operator',
    controllers: serviceControllers(configuration),
    cluster: { connection },
    health: { port: portOf(flags['health-probe-bind-address']) },
    metrics: { port: portOf(flags['metrics-addr']) },
    signals: true,
    lastResort: true,
  });
  await manager.stopped;
}

/** Another cluster than before ends the program: instances would be taken for those of the other one. */
async function keepClusterId(
  { clusterId, initialClusterId, releaseNamespace }: Configuration,
  connection: Awaited<ReturnType<typeof findConnection>>,
): Promise<void> {
  if (initialClusterId === clusterId) return;
  if (initialClusterId) throw new ClusterIdChanged(`ClusterID changed from ${initialClusterId} to ${clusterId}`);
  await using cluster = connect(connection, { fieldManager: 'sap-btp-operator' });
  const labels = { [managedLabel]: 'true' };
  const metadata = { namespace: releaseNamespace, name: clusterIdSecret.name, labels };
  const secret = newObject(Secret, { metadata, stringData: { [clusterIdSecret.key]: clusterId } });
  // One that is there already is no reason to end.
  await cluster.client
    .create(secret)
    .catch((error: unknown) => say(`failed to create cluster secret: ${String(error)}`));
}

const portOf = (address: string) => Number(address.slice(address.lastIndexOf(':') + 1));

const say = (line: string) => process.stderr.write(`${line}\n`);

try {
  await main(process.argv.slice(2));
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = error instanceof CommandLineError || error instanceof ClusterIdChanged ? 2 : 1;
}
