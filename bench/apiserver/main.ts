/**
 * `npm run bench:apiserver [-- --quick] [-- --record]`: the embedded API server against the real one (kube-apiserver and etcd
 * of the reference cluster), the same requests from the same client, in turns.
 */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startReferenceCluster } from '@slipway/reference-cluster';

import { bundleInto } from '../lib/bundle.ts';
import { referenceVersions } from '../lib/reference-versions.ts';
import { cpuMs, memoryOf } from '../lib/process-stats.ts';
import { type Bar, figure, publish, ratio, type Table } from '../lib/report.ts';
import { median } from '../lib/statistics.ts';
import { Subject } from '../lib/subject.ts';
import {
  fanOut,
  type FanOut,
  fill,
  type LoadPlan,
  type Operation,
  operations,
  type Rate,
  runLoad,
  type Wire,
  writes,
} from './load.ts';
import { httpWire } from './wire.ts';

const quick = process.argv.includes('--quick');
const requests: Record<string, number> = quick ? { 1: 100, 16: 300 } : { 1: 500, 16: 2_000 };
const rounds = quick ? 1 : 3;
const fillers = quick ? 500 : 10_000;
const starts = quick ? 3 : 9;
const watchers = 100;
const changes = quick ? 20 : 200;
const log = (line: string) => console.error(`… ${line}`);

const folder = await mkdtemp(join(tmpdir(), 'slipway-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** The server as it is shipped: one file. */
const bundled = await bundleInto(folder, join(import.meta.dirname, 'embedded-process.ts'), 'embedded');

interface Target {
  readonly name: string;
  readonly wire: Wire & AsyncDisposable;
  readonly pids: readonly number[];
}

interface Start {
  readonly wallMs: number;
  /** CPU time of all threads; a busy machine makes this longer too, but not by as much. */
  readonly cpuMs: number;
}

/** From the start of the process to the first answer. */
async function processStart(file: string): Promise<Start> {
  await using subject = new Subject(process.execPath, [file]);
  const { url } = (await subject.said('ready')) as unknown as { url: string };
  await using wire = httpWire({ url, connections: 1 });
  await wire.send({ method: 'GET', path: '/readyz' });
  return { wallMs: performance.now() - subject.startedAt, cpuMs: cpuMs(subject.pid) };
}

async function inProcess(plan: LoadPlan): Promise<{ startsMs: number[]; results: Rate[] }> {
  await using subject = new Subject(process.execPath, [
    join(import.meta.dirname, 'in-process.ts'),
    JSON.stringify(plan),
  ]);
  return (await subject.said('done')) as unknown as { startsMs: number[]; results: Rate[] };
}

log('start to ready');
const bundleStarts: Start[] = [];
const sourceStarts: Start[] = [];
// The first one compiles; from then on what was compiled is found again, as with every program started twice.
await processStart(bundled);
for (let i = 0; i < starts; i += 1) {
  bundleStarts.push(await processStart(bundled));
  sourceStarts.push(await processStart(join(import.meta.dirname, 'embedded-process.ts')));
}
const referenceBegin = performance.now();
await using reference = await startReferenceCluster({ log });
const referenceStartMs = performance.now() - referenceBegin;

await using plain = new Subject(process.execPath, [bundled]);
await using secure = new Subject(process.execPath, [bundled, '--secure']);
const addressOf = async (subject: Subject) => ((await subject.said('ready')) as unknown as { url: string }).url;
const targets: Target[] = [
  {
    name: 'embedded, HTTP (its default)',
    wire: httpWire({ url: await addressOf(plain), connections: 16 }),
    pids: [plain.pid],
  },
  {
    name: 'embedded, HTTPS and RBAC',
    wire: httpWire({ url: await addressOf(secure), token: 'bench', connections: 16 }),
    pids: [secure.pid],
  },
  {
    name: 'kube-apiserver and etcd',
    wire: httpWire({ url: reference.url, token: reference.token, connections: 16 }),
    pids: [reference.pids['kube-apiserver']!, reference.pids['etcd']!],
  },
];
const referenceTarget = targets.at(-1)!;

const rates = new Map<string, Rate[]>(targets.map(({ name }) => [name, []]));
rates.set('embedded, in process', []);
const inProcessStarts: number[] = [];
const firstInProcessStarts: number[] = [];
for (let round = 0; round <= rounds; round += 1) {
  // The first round warms every target up and does not count.
  const plan: LoadPlan = { requests, round };
  for (const { name, wire } of targets) {
    log(`round ${round}: ${name}`);
    const results = await runLoad(wire, plan);
    if (round > 0) rates.get(name)!.push(...results);
  }
  if (round === 0) continue;
  log(`round ${round}: in process`);
  const { results, startsMs } = await inProcess(plan);
  rates.get('embedded, in process')!.push(...results);
  firstInProcessStarts.push(startsMs[0]!);
  inProcessStarts.push(...startsMs.slice(1));
}

const fans = new Map<string, FanOut>();
for (const { name, wire } of targets) {
  log(`${watchers} watchers: ${name}`);
  fans.set(name, await fanOut(wire, watchers, changes));
}

const residents = new Map<string, { before: number; after: number }>();
for (const { name, wire, pids } of targets) {
  log(`${fillers} objects: ${name}`);
  const resident = () => pids.reduce((sum, pid) => sum + memoryOf(pid).residentMb, 0);
  const before = resident();
  await fill(wire, fillers);
  await sleep(2_000);
  residents.set(name, { before, after: resident() });
}
for (const { wire } of targets) await wire[Symbol.asyncDispose]();

const typical = (name: string, operation: Operation, clients: number) => {
  const samples = rates.get(name)!.filter((rate) => rate.operation === operation && rate.clients === clients);
  return {
    perSecond: median(samples.map((rate) => rate.perSecond)),
    p50Ms: median(samples.map((rate) => rate.p50Ms)),
    p99Ms: median(samples.map((rate) => rate.p99Ms)),
  };
};

function rateTable(clients: number): Table {
  return {
    title: `Requests per second (p50 / p99 in ms), ${clients} client${clients > 1 ? 's' : ''}`,
    columns: ['', ...operations],
    rows: [...rates.keys()].flatMap((name) => {
      const cells = operations.map((operation) => {
        const { perSecond, p50Ms, p99Ms } = typical(name, operation, clients);
        return `${perSecond.toFixed(0)} (${figure(p50Ms)} / ${figure(p99Ms)})`;
      });
      const times = operations.map((operation) =>
        ratio(typical(name, operation, clients).perSecond, typical(referenceTarget.name, operation, clients).perSecond),
      );
      return name === referenceTarget.name
        ? [[name, ...cells]]
        : [
            [name, ...cells],
            ['', ...times],
          ];
    }),
  };
}

const wallOf = (all: readonly Start[]) => median(all.map(({ wallMs }) => wallMs));
const cpuOf = (all: readonly Start[]) => figure(median(all.map((start) => start.cpuMs)), 'ms');
const readyMs = wallOf(bundleStarts);
const residentOf = (name: string) => residents.get(name)!.after;
const startMs = median(inProcessStarts);

/** All writes of a load, one after the other: how many per second. */
function writesPerSecond(name: string, clients: number): number {
  const seconds = writes.reduce((sum, operation) => sum + 1 / typical(name, operation, clients).perSecond, 0);
  return writes.length / seconds;
}

function writeBar(target: Target, clients: number): Bar {
  const mine = writesPerSecond(target.name, clients);
  const theirs = writesPerSecond(referenceTarget.name, clients);
  return {
    text: `writes per second ≥ 2× the reference, ${clients} client${clients > 1 ? 's' : ''}, ${target.name}`,
    value: `${ratio(mine, theirs)} (${mine.toFixed(0)} against ${theirs.toFixed(0)})`,
    holds: mine >= 2 * theirs,
  };
}

await publish({
  script: 'bench:apiserver',
  title: 'API server: embedded against the real one',
  method:
    'The same requests (ConfigMaps of about 1 KB) from one Node process to each server in turn, over kept-alive connections; medians of ' +
    `${rounds} rounds after one to warm up. The reference is kube-apiserver with etcd (no fsync) over HTTPS with RBAC. Client and server share the machine's cores. ` +
    'The embedded server runs as one bundled file. Memory is resident memory after all the load above, 10 000 ConfigMaps on top.',
  versions: await referenceVersions(reference),
  bars: [
    {
      text: 'ready as a process in under 150 ms',
      value: `${figure(readyMs, 'ms')} (${cpuOf(bundleStarts)} of CPU)`,
      holds: readyMs < 150,
    },
    {
      text: 'ready in process in under 30 ms',
      value: `${figure(startMs, 'ms')} (the very first one ${figure(median(firstInProcessStarts), 'ms')})`,
      holds: startMs < 30,
    },
    ...targets
      .slice(0, 2)
      .flatMap((target) => Object.keys(requests).map((clients) => writeBar(target, Number(clients)))),
    {
      text: `memory with ${fillers} objects ≤ half the reference`,
      value: `${ratio(residentOf(targets[0]!.name), residentOf(referenceTarget.name))} (${figure(residentOf(targets[0]!.name), 'MB')} against ${figure(residentOf(referenceTarget.name), 'MB')})`,
      holds: residentOf(targets[0]!.name) <= residentOf(referenceTarget.name) / 2,
    },
  ],
  tables: [
    {
      title: 'Start to first answer',
      columns: ['', 'median', 'reference', 'CPU'],
      rows: [
        ['embedded, one file', figure(readyMs, 'ms'), ratio(readyMs, referenceStartMs), cpuOf(bundleStarts)],
        [
          'embedded, from sources',
          figure(wallOf(sourceStarts), 'ms'),
          ratio(wallOf(sourceStarts), referenceStartMs),
          cpuOf(sourceStarts),
        ],
        ['embedded, in process', figure(startMs, 'ms'), ratio(startMs, referenceStartMs), ''],
        ['kube-apiserver and etcd', figure(referenceStartMs, 'ms'), '1', ''],
      ],
    },
    ...Object.keys(requests).map((clients) => rateTable(Number(clients))),
    {
      title: `${changes} changes to ${watchers} watchers`,
      columns: ['', 'events per second', 'p50', 'p99'],
      rows: targets.map(({ name }) => {
        const fan = fans.get(name)!;
        return [name, fan.eventsPerSecond.toFixed(0), figure(fan.p50Ms, 'ms'), figure(fan.p99Ms, 'ms')];
      }),
    },
    {
      title: 'Resident memory',
      columns: ['', 'before', `with ${fillers} more objects`, 'reference'],
      rows: targets.map(({ name }) => {
        const { before, after } = residents.get(name)!;
        return [name, figure(before, 'MB'), figure(after, 'MB'), ratio(after, residentOf(referenceTarget.name))];
      }),
    },
  ],
});
