/**
 * `npm run bench:growth [-- --only NAME] [-- --quick] [-- --record]`: how the cost of a hostile request grows with its size, on the
 * embedded server and on the real kube-apiserver of the reference cluster: 4 is linear, 16 the square. Ratios, because times say more
 * about the machine; ours may grow three times as much as the real one's.
 */
import { parseArgs } from 'node:util';

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
import { referenceVersions } from '../lib/reference-versions.ts';
import { figure, publish } from '../lib/report.ts';
import { median } from '../lib/statistics.ts';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    quick: { type: 'boolean', default: false },
    record: { type: 'boolean' },
  },
});
const rounds = options.quick ? 1 : 3;
/** Processor time below this is chance. */
const least = 50;
const bar = 3;
const linear = 4;
/** What the real server may spend on size n: where it grows with the square, 4n takes it sixteen times as long. */
const mostOnReal = 500;

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

interface Real {
  readonly transport: Transport;
  readonly pid: number;
}

/** The same on the real server, which stays: what a round made is deleted after it. */
async function costOfReal(real: Real, costly: Costly, n: number): Promise<number> {
  const times: number[] = [];
  // What takes long enough not to be chance is not asked again.
  for (let round = 0; round < rounds && (times[0] ?? 0) < mostOnReal; round += 1) {
    for (const each of costly.before?.(n) ?? []) await send(real.transport, each);
    const started = cpuMs(real.pid);
    await send(real.transport, costly.request(n));
    times[round] = cpuMs(real.pid) - started;
    for (const path of places) await real.transport.send({ method: 'DELETE', path: `${path}?gracePeriodSeconds=0` });
  }
  return median(times);
}

/** Costs of n and 4n on the real server, the largest it can bear: some requests that are nothing to us take it minutes. */
async function growthOfReal(real: Real, costly: Costly): Promise<readonly [number, number]> {
  const { largest, largestOnReal = largest } = costly;
  let n = Math.ceil(largestOnReal / 64);
  let cost = await costOfReal(real, costly, n);
  while (cost < mostOnReal / 4 && n * 8 <= largestOnReal) {
    n *= 2;
    cost = await costOfReal(real, costly, n);
  }
  return [cost, await costOfReal(real, costly, n * 4)];
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

/** What one request costs, in processor milliseconds. */
interface Growth {
  readonly name: string;
  readonly ours: readonly [number, number, number];
  readonly theirs: readonly [number, number] | undefined;
}

const oursGrow = ({ ours }: Growth) => ours[2] / ours[0];

/** What the real server does in no time has grown at least so much from what could have been measured. */
const theirsGrow = ({ theirs }: Growth) => (theirs ? theirs[1] / Math.max(theirs[0], least) : linear);

/** How much more ours grows. Where the real server does better than a line, ours is held to a line. */
const moreThanReal = (growth: Growth) => oursGrow(growth) / Math.max(theirsGrow(growth), linear);

const real = await startReal();
try {
  const measured: Growth[] = [];
  for (const costly of costlyRequests.filter(({ name }) => name.includes(options.only))) {
    const size = (part: number) => Math.floor(costly.largest / part);
    const growth: Growth = {
      name: costly.name,
      ours: [await costOfOurs(costly, size(4)), await costOfOurs(costly, size(2)), await costOfOurs(costly, size(1))],
      theirs: real && (await growthOfReal(real, costly)),
    };
    console.error(`… ${costly.name}: ${figure(oursGrow(growth))}`);
    measured.push(growth);
  }
  const worst = measured
    .filter(({ ours }) => ours[2] >= least)
    .reduce<Growth | undefined>((a, b) => (a && moreThanReal(a) >= moreThanReal(b) ? a : b), undefined);
  const holds = !worst || moreThanReal(worst) <= bar;
  await publish({
    script: 'bench:growth',
    title: 'How hostile requests grow',
    method: `Each request at a quarter, half and all of its largest size, and on the real server at the largest sizes it answers in seconds; processor time, median of ${rounds}. A line grows by 4 from n to 4n, a square by 16. *More than real* compares with the real server's growth, where n counts as ${least} ms at least, or with a line where that is less.`,
    versions: real ? await referenceVersions(real.cluster) : {},
    bars: [
      {
        text: `no request that takes ${least} ms grows more than ${bar} times as much as the real server's`,
        value: worst ? `${figure(moreThanReal(worst))}× (${worst.name})` : 'none takes as long',
        holds,
      },
    ],
    tables: [
      {
        title: 'Processor time of one request',
        columns: ['', 'n', '2n', '4n', '4n / n', 'real n', 'real 4n', 'real 4n / n', 'more than real'],
        rows: measured.map((growth) => [
          growth.name,
          ...growth.ours.map((ms) => `${ms.toFixed(0)} ms`),
          oursGrow(growth).toFixed(1),
          ...(growth.theirs ?? [NaN, NaN]).map((ms) => figure(ms, 'ms')),
          growth.theirs ? theirsGrow(growth).toFixed(1) : '–',
          `${moreThanReal(growth).toFixed(1)}×`,
        ]),
      },
    ],
  });
  if (!holds) process.exitCode = 1;
} finally {
  await real?.transport.close();
  await real?.cluster.stop();
}
