/**
 * `npm run bench:growth [-- NAME]`: how the cost of a hostile request grows with its size, on the embedded server and on the real
 * kube-apiserver of the reference cluster. Prints processor time for n, 2n and 4n and how both grow from n to 4n: 4 is linear, 16 the
 * square. Ratios, because times say more about the machine; ours may grow three times as much as the real one's.
 */
import { startCluster } from '@slipway/apiserver';
import { undiciTransport, type Transport } from '@slipway/kube';
import { ensureReferenceBinaries, startReferenceCluster } from '@slipway/reference-cluster';

import {
  costlyRequests,
  thingsCrd,
  type Costly,
  type CostlyRequest,
} from '../../packages/apiserver/test/attacks/costly-requests.ts';
import { cpuMs } from '../lib/process-stats.ts';
import { median } from '../lib/statistics.ts';

const rounds = 3;
const wanted = process.argv[2] ?? '';
/** Processor time below this is chance. */
const least = 50;
const bar = 3;
const linear = 4;

const send = async (transport: Transport, { method, path, type, body }: CostlyRequest): Promise<number> =>
  (await transport.send({ method, path, headers: { 'content-type': type }, body })).status;

/** Processor milliseconds for one request of size `n`, on an embedded cluster that has seen it before. */
async function costOfOurs({ before, request }: Costly, n: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    await using cluster = await startCluster({ controllers: 'none', crds: [thingsCrd] });
    for (const each of before?.(n) ?? []) await send(cluster.transport, each);
    const started = process.cpuUsage();
    await send(cluster.transport, request(n));
    const { user, system } = process.cpuUsage(started);
    times[round] = (user + system) / 1_000;
  }
  // The first round compiles.
  return median(times.slice(1));
}

const places = [
  '/api/v1/namespaces/default/configmaps',
  '/api/v1/namespaces/default/pods',
  '/apis/attacks.example/v1/namespaces/default/things',
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
];

/** The same on the real server, which stays: what a round made is deleted after it. */
async function costOfReal(
  real: { readonly transport: Transport; readonly pid: number },
  costly: Costly,
  n: number,
): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const each of costly.before?.(n) ?? []) await send(real.transport, each);
    const started = cpuMs(real.pid);
    await send(real.transport, costly.request(n));
    times[round] = cpuMs(real.pid) - started;
    for (const path of places) await real.transport.send({ method: 'DELETE', path: `${path}?gracePeriodSeconds=0` });
  }
  return median(times);
}

async function startReal() {
  const found = await ensureReferenceBinaries();
  if (!found.available) {
    console.log(`kube-apiserver is not compared: ${found.reason}`);
    return undefined;
  }
  const cluster = await startReferenceCluster();
  const transport = undiciTransport(
    {
      server: cluster.url,
      tls: { ca: cluster.ca, clientCertificate: { cert: cluster.adminCert, key: cluster.adminKey } },
    },
    // Some of these take the real server long.
    { requestTimeoutMs: 300_000 },
  );
  await send(transport, {
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    type: 'application/json',
    body: JSON.stringify(thingsCrd),
  });
  const served = async () => (await transport.send({ method: 'GET', path: places[2]! })).status === 200;
  while (!(await served())) await new Promise((resolve) => setTimeout(resolve, 100));
  return { cluster, transport, pid: cluster.pids['kube-apiserver']! };
}

const real = await startReal();
try {
  const column = (text: string) => text.padStart(9);
  const heads = ['n', '2n', '4n', '4n/n', 'real n', 'real 4n', '4n/n'];
  console.log(`${'request'.padEnd(64)}${heads.map(column).join('')}`);
  let worst = { name: '', times: 0 };
  for (const costly of costlyRequests.filter(({ name }) => name.includes(wanted))) {
    const { largest, largestOnReal = largest } = costly;
    const ours: number[] = [];
    for (const part of [4, 2, 1]) ours.push(await costOfOurs(costly, Math.floor(largest / part)));
    const growth = ours[2]! / ours[0]!;
    const theirs: number[] = [];
    if (real) for (const part of [4, 1]) theirs.push(await costOfReal(real, costly, Math.floor(largestOnReal / part)));
    // What costs the real server too little to be measured is held to linear growth.
    const measured = theirs.length > 0 && Math.min(...theirs) >= least;
    const theirGrowth = measured ? theirs[1]! / theirs[0]! : linear;
    const times = growth / Math.max(theirGrowth, linear);
    if (ours[2]! > least && times > worst.times) worst = { name: costly.name, times };
    const cells = [
      ...ours.map((ms) => `${ms.toFixed(0)} ms`),
      growth.toFixed(1),
      ...theirs.map((ms) => `${ms.toFixed(0)} ms`),
      ...(measured ? [theirGrowth.toFixed(1)] : []),
    ];
    console.log(`${costly.name.padEnd(64)}${cells.map(column).join('')}`);
  }
  console.log(
    `\nthe worst, ${worst.name}, grows ${worst.times.toFixed(1)} times as much as the real server or a line; ${bar} is the bar`,
  );
  if (worst.times > bar) process.exitCode = 1;
} finally {
  await real?.transport.close();
  await real?.cluster.stop();
}
