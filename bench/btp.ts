import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { BtpOperator, btpManager } from '@slipway/btp-manager';
import {
  createClient,
  instrumentTransport,
  systemClock,
  toCustomResourceDefinition,
  undiciTransport,
  type Transport,
} from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';
import { startReferenceCluster } from '@slipway/reference-cluster';
import { silentLogger, startManager } from '@slipway/runtime';

import { referenceVersions } from './lib/reference-versions.ts';
import { figure, publish, ratio } from './lib/report.ts';
import { median } from './lib/statistics.ts';

/**
 * How long one BtpOperator takes from create to Ready and from delete to gone on the real API server, and what it costs in
 * requests. The original polls: with its default intervals it looks at readiness every 30 s and at leftovers every 10 s, so
 * its times have floors whatever the machine does; those floors are printed beside ours.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, record: { type: 'boolean' } },
});
const rounds = Number(options.rounds);
const floors = { createToReady: 30, deleteToGone: 10 };
const key = { namespace: 'kyma-system', name: 'btpoperator' };

await using cluster = await startReferenceCluster({ controllers: true, simulateNodes: 1 });
const connection = {
  server: cluster.url,
  tls: { ca: cluster.ca, clientCertificate: { cert: cluster.adminCert, key: cluster.adminKey } },
};
const client = createClient({ transport: undiciTransport(connection), fieldManager: 'bench' });
for (const kind of btpManager.kinds) await client.apply(toCustomResourceDefinition(kind));

const requests = new Map<string, number>();
function counted(transport: Transport): Transport {
  const begin = ({ method, stream }: { method: string; stream: boolean }) => {
    const name = stream ? 'WATCH' : method;
    requests.set(name, (requests.get(name) ?? 0) + 1);
    return undefined;
  };
  return instrumentTransport(transport, { begin }, systemClock);
}

await using manager = await startManager({
  name: 'btp-manager',
  cluster: { transport: counted(undiciTransport(connection)) },
  controllers: btpManager.controllers({ flags: { ...btpManager.exampleFlags }, env: {} }),
  log: silentLogger,
});
await manager.ready;

const ready: number[] = [];
const gone: number[] = [];
const counts: { create: string; remove: string }[] = [];
for (let round = 0; round < rounds; round += 1) {
  requests.clear();
  let started = performance.now();
  for (const object of parseManifests(btpManager.examples[0]!.manifest)) await client.apply(object);
  while ((await client.get(BtpOperator, key))?.status?.state !== 'Ready') await wait(20);
  ready.push((performance.now() - started) / 1000);
  const create = countText();
  // What follows on its own (the pass after Ready) is not part of the removal.
  await wait(2_000);
  requests.clear();
  started = performance.now();
  await client.delete(BtpOperator, key);
  while (await client.get(BtpOperator, key)) await wait(20);
  gone.push((performance.now() - started) / 1000);
  counts.push({ create, remove: countText() });
}

const row = (what: string, seconds: readonly number[], floor: number) => [
  what,
  figure(median(seconds), 's'),
  `${seconds.map((value) => value.toFixed(2)).join(', ')} s`,
  `${floor} s`,
  ratio(median(seconds), floor),
];
await publish({
  script: 'bench:btp',
  title: 'BTP Manager: to come and to go',
  method:
    'One BtpOperator on the real API server with simulated nodes. The original polls readiness every 30 s and leftovers every 10 s, so it cannot be faster than ' +
    'that; ours reacts to events.',
  versions: await referenceVersions(cluster),
  bars: [],
  tables: [
    {
      title: `Median of ${rounds}`,
      columns: ['', 'Slipway', 'all rounds', 'shortest wait of the original', 'ours'],
      rows: [row('create to Ready', ready, floors.createToReady), row('delete to gone', gone, floors.deleteToGone)],
    },
  ],
  notes: [
    `Requests, create to Ready: ${counts.at(-1)!.create}.`,
    `Requests, delete to gone: ${counts.at(-1)!.remove}.`,
  ],
});

function countText(): string {
  return [...requests].map(([method, count]) => `${method} ${count}`).join(', ');
}
