import { startCluster } from '@slipway/apiserver';
import { ConfigMap, createClient, sleep, systemClock } from '@slipway/kube';
import { controller, createLogger, startManager } from '@slipway/runtime';

/**
 * A program that is a manager and nothing else, and in which something goes wrong where nobody can catch it: `throw`, `reject`
 * or `twice`, as its argument says, while a reconciliation is running.
 */
const [how] = process.argv.slice(2);
await using cluster = await startCluster({ controllers: 'none' });
const client = createClient({ transport: cluster.transport, fieldManager: 'test' });
await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'a' } });

function goWrong(): void {
  if (how === 'reject') void Promise.reject(new Error('rejected on purpose'));
  else throw new Error('thrown on purpose');
}

const working = controller({
  name: 'working',
  for: ConfigMap,
  scope: { namespaces: ['default'] },
  async reconcile({ client: own }, key) {
    setImmediate(goWrong);
    if (how === 'twice') setImmediate(goWrong);
    await sleep(systemClock, 100);
    await own.patch(ConfigMap, key, { type: 'merge', body: { data: { done: 'yes' } } });
  },
});
const log = createLogger({ destination: { write: (line) => process.stdout.write(line) } });
const manager = await startManager({
  cluster: { transport: cluster.transport },
  controllers: [working],
  leaderElection: true,
  lastResort: true,
  log,
});
await manager.stopped.catch(async () => {
  const written = await client.get(ConfigMap, { namespace: 'default', name: 'a' });
  log.info('afterwards', { data: written?.data });
});
