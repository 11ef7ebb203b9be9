/**
 * `npm run bench:runtime [-- --quick] [-- --record]`: our runtime, controller-runtime and the informer of
 * `@kubernetes/client-node`, one after the other, on the same bytes of one server.
 */
import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { bundleInto } from '../lib/bundle.ts';
import { goPeer, goVersion, pinnedModule } from '../lib/go-peer.ts';
import { type Bar, figure, publish, ratio, type Table } from '../lib/report.ts';
import { type Candidate, type EventsResult, measureSubject, type StartResult } from './measure-subject.ts';
import { ServerProcess } from './server-process.ts';
import type { BenchKind } from './templates.ts';

const quick = process.argv.includes('--quick');
const sizes = quick ? [200, 1_000] : [1_000, 10_000, 50_000];
/** The size at which changes are sent. */
const busySize = quick ? 200 : 10_000;
const phases = quick
  ? { burstEvents: 2_000, bursts: 1, steadyEvents: 1_000, writeEvents: 50 }
  : { burstEvents: 20_000, bursts: 3, steadyEvents: 5_000, writeEvents: 500 };

const log = (line: string) => console.error(`… ${line}`);
const peer = await goPeer('controller-runtime', log);
const folder = await mkdtemp(join(tmpdir(), 'slipway-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const node = async (name: string, ...plugins: [[]?]) => ({
  command: process.execPath,
  args: [await bundleInto(folder, join(import.meta.dirname, 'subjects', `${name}.ts`), name, ...plugins)],
});
const go = (...args: string[]) => ({ side: 'controller-runtime' as const, command: peer, args });

const ours: Candidate = { name: 'Slipway', side: 'ours', ...(await node('ours')) };
const clientNode: Candidate = { name: 'client-node informer', side: 'client-node', ...(await node('client-node', [])) };
const candidates: Record<BenchKind, readonly Candidate[]> = {
  website: [
    ours,
    { name: 'controller-runtime typed', ...go('-form=typed') },
    { name: 'controller-runtime typed, managedFields dropped', ...go('-form=typed', '-strip') },
    { name: 'controller-runtime unstructured', ...go('-form=unstructured') },
    clientNode,
  ],
  pod: [
    ours,
    { name: 'controller-runtime typed, protobuf (its default)', ...go('-form=typed') },
    { name: 'controller-runtime typed, protobuf, managedFields dropped', ...go('-form=typed', '-strip') },
    { name: 'controller-runtime typed, JSON', ...go('-form=typed', '-json') },
    { name: 'controller-runtime unstructured', ...go('-form=unstructured') },
    clientNode,
  ],
};
const kindNames: Record<BenchKind, string> = { website: '3 KB custom resources', pod: '7 KB Pods' };

interface Measured {
  readonly candidate: Candidate;
  readonly starts: ReadonlyMap<number, StartResult>;
  readonly events: EventsResult;
}

async function measureAll(server: ServerProcess, kind: BenchKind): Promise<Measured[]> {
  const starts = new Map(candidates[kind].map((candidate) => [candidate, new Map<number, StartResult>()]));
  const events = new Map<Candidate, EventsResult>();
  for (const size of sizes) {
    for (const candidate of candidates[kind]) {
      log(`${kindNames[kind]}, ${size}: ${candidate.name}`);
      const result = await measureSubject(server, candidate, kind, size, size === busySize ? phases : undefined);
      starts.get(candidate)!.set(size, result.start);
      if (result.events) events.set(candidate, result.events);
    }
  }
  return candidates[kind].map((candidate) => ({
    candidate,
    starts: starts.get(candidate)!,
    events: events.get(candidate)!,
  }));
}

await using server = await ServerProcess.start(peer);
const idle: [Candidate, StartResult][] = [];
for (const candidate of candidates.website) {
  idle.push([candidate, (await measureSubject(server, candidate, 'website', 0)).start]);
}
const measured: Record<BenchKind, Measured[]> = {
  website: await measureAll(server, 'website'),
  pod: await measureAll(server, 'pod'),
};

function eventTable(kind: BenchKind): Table {
  const base = measured[kind][0]!.events;
  return {
    title: `Changes of ${kindNames[kind]}, ${busySize} of them cached`,
    columns: [
      '',
      'CPU per event, burst',
      'ours',
      'CPU per event, 1000/s',
      `burst of ${phases.burstEvents}`,
      'event → write p50',
      'p99',
      'requests per reconcile',
    ],
    rows: measured[kind].map(({ candidate, events }) => [
      candidate.name,
      figure(events.burstUs, 'µs'),
      candidate === ours ? '1' : ratio(base.burstUs, events.burstUs),
      figure(events.steadyUs, 'µs'),
      figure(events.burstMs / 1000, 's'),
      figure(events.p50Ms, 'ms'),
      figure(events.p99Ms, 'ms'),
      figure(events.requestsPerReconcile),
    ]),
  };
}

function startTable(kind: BenchKind): Table {
  const base = measured[kind][0]!.starts;
  return {
    title: `Start with ${kindNames[kind]}`,
    columns: [
      '',
      'objects',
      'synced',
      'all reconciled',
      'CPU per object',
      'peak memory',
      'ours',
      'settled',
      'loop delay',
    ],
    rows: sizes.flatMap((size) =>
      measured[kind].map(({ candidate, starts }) => {
        const start = starts.get(size)!;
        return [
          candidate.name,
          String(size),
          figure(start.syncedMs / 1000, 's'),
          figure(start.reconciledMs / 1000, 's'),
          figure(start.cpuPerObjectUs, 'µs'),
          figure(start.peakMb, 'MB'),
          candidate === ours ? '1' : ratio(base.get(size)!.peakMb, start.peakMb),
          figure(start.settledMb, 'MB'),
          figure(start.delayMs, 'ms'),
        ];
      }),
    ),
  };
}

/** Against the fastest (or smallest) way of using controller-runtime, whichever that is. */
function best(kind: BenchKind, value: (measured: Measured) => number): Measured {
  return measured[kind]
    .filter(({ candidate }) => candidate.side === 'controller-runtime')
    .reduce((a, b) => (value(b) < value(a) ? b : a));
}

function bars(): Bar[] {
  const largest = sizes.at(-1)!;
  const cpu = (kind: BenchKind, limit: number): Bar => {
    const peerBest = best(kind, ({ events }) => events.burstUs);
    const mine = measured[kind][0]!.events.burstUs;
    return {
      text: `CPU per event on ${kindNames[kind]} ≤ ${limit}× the best of controller-runtime`,
      value: `${ratio(mine, peerBest.events.burstUs)} (${peerBest.candidate.name})`,
      holds: mine <= limit * peerBest.events.burstUs,
    };
  };
  const peak = ({ starts }: Measured) => starts.get(largest)!.peakMb;
  const mine = measured.website[0]!;
  const memory = (peerSide: Measured): Bar => ({
    text: `peak memory with ${largest} custom resources ≤ 0.6× ${peerSide.candidate.name}`,
    value: `${ratio(peak(mine), peak(peerSide))} (${figure(peak(mine), 'MB')} against ${figure(peak(peerSide), 'MB')})`,
    holds: peak(mine) <= 0.6 * peak(peerSide),
  });
  const delays = (['website', 'pod'] as const).map((kind) => measured[kind][0]!.starts.get(largest)!.delayMs);
  return [
    cpu('website', 0.25),
    cpu('pod', 1),
    memory(measured.website.find(({ candidate }) => candidate.side === 'controller-runtime')!),
    memory(best('website', peak)),
    {
      text: `no event-loop delay above 50 ms while loading ${largest}`,
      value: `${figure(delays[0]!, 'ms')} custom resources, ${figure(delays[1]!, 'ms')} Pods`,
      holds: Math.max(...delays) <= 50,
    },
  ];
}

const clientNodeVersion = (
  JSON.parse(
    readFileSync(join(import.meta.dirname, '../../node_modules/@kubernetes/client-node/package.json'), 'utf8'),
  ) as { version: string }
).version;

await publish({
  script: 'bench:runtime',
  title: 'Runtime: watching and reconciling',
  method:
    'One server, in a process of its own, sends the same bytes to every program over TLS (HTTP/2 to Go, HTTP/1.1 to Node), one flush for each ' +
    'change. Every program runs a controller of one kind that owns ConfigMaps (metadata only); its reconciler reads the object from the cache and patches the status ' +
    'when it lags behind. CPU is user + system time of the process as the kernel counts it; latency is measured in the server, from the change sent to the patch ' +
    'received. "ours" is our figure divided by the one of the row: below 1 we need less.',
  versions: {
    Go: (await goVersion()).replace(/^go/, ''),
    'controller-runtime': await pinnedModule('controller-runtime', 'sigs.k8s.io/controller-runtime'),
    'client-go': await pinnedModule('controller-runtime', 'k8s.io/client-go'),
    '@kubernetes/client-node': clientNodeVersion,
  },
  bars: bars(),
  tables: [
    eventTable('website'),
    eventTable('pod'),
    startTable('website'),
    startTable('pod'),
    {
      title: 'Idle: everything synced, nothing to watch',
      columns: ['', 'memory'],
      rows: idle.map(([candidate, start]) => [candidate.name, figure(start.settledMb, 'MB')]),
    },
  ],
});
