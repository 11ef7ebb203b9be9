import { setTimeout as sleep } from 'node:timers/promises';

import { cpuMs, memoryOf } from '../lib/process-stats.ts';
import { Subject } from '../lib/subject.ts';
import { median } from '../lib/statistics.ts';
import type { ServerProcess } from './server-process.ts';
import type { BenchKind } from './templates.ts';

/** A program to measure. */
export interface Candidate {
  readonly name: string;
  readonly side: 'ours' | 'controller-runtime' | 'client-node';
  readonly command: string;
  readonly args: readonly string[];
}

export interface StartResult {
  readonly syncedMs: number;
  readonly reconciledMs: number;
  readonly cpuPerObjectUs: number;
  readonly peakMb: number;
  readonly settledMb: number;
  /** Longest event-loop delay until the cache was loaded; only of programs with an event loop. */
  readonly delayMs: number;
}

export interface EventsResult {
  readonly burstUs: number;
  readonly burstMs: number;
  readonly steadyUs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requestsPerReconcile: number;
}

export interface EventPhases {
  readonly burstEvents: number;
  readonly bursts: number;
  readonly steadyEvents: number;
  readonly writeEvents: number;
}

const settleMs = 2_000;

/** Starts a candidate on `count` objects and, with `phases`, sends it changes. */
export async function measureSubject(
  server: ServerProcess,
  candidate: Candidate,
  kind: BenchKind,
  count: number,
  phases?: EventPhases,
): Promise<{ start: StartResult; events?: EventsResult }> {
  await server.load(kind, count);
  await using subject = new Subject(candidate.command, [
    ...candidate.args,
    ...['-url', server.url, '-ca', server.caFile, '-kind', kind, '-objects', String(count)].map((argument) =>
      candidate.side === 'controller-runtime' ? argument : argument.replace(/^-/, '--'),
    ),
  ]);
  const synced = await subject.said('synced');
  const reconciled = count > 0 ? await subject.said('reconciled') : synced;
  await sleep(settleMs);
  const { peakMb, residentMb } = memoryOf(subject.pid);
  const start: StartResult = {
    syncedMs: synced.afterMs,
    reconciledMs: reconciled.afterMs,
    cpuPerObjectUs: (cpuMs(subject.pid) * 1000) / count,
    peakMb,
    settledMb: residentMb,
    delayMs: Number(synced['delayMs'] ?? Number.NaN),
  };
  return phases ? { start, events: await measureEvents(server, subject, phases) } : { start };
}

async function measureEvents(server: ServerProcess, subject: Subject, phases: EventPhases): Promise<EventsResult> {
  const bursts: { us: number; ms: number }[] = [];
  for (let round = 0; round < phases.bursts; round += 1) {
    const before = cpuMs(subject.pid);
    const begin = performance.now();
    await server.burst(phases.burstEvents);
    const ms = performance.now() - begin;
    // Work may go on behind the last write, such as the collection of garbage.
    await sleep(settleMs / 2);
    bursts.push({ ms, us: ((cpuMs(subject.pid) - before) * 1000) / phases.burstEvents });
  }
  const before = cpuMs(subject.pid);
  await server.steady(phases.steadyEvents, 1_000, false);
  await sleep(settleMs / 4);
  const steadyUs = ((cpuMs(subject.pid) - before) * 1000) / phases.steadyEvents;
  const write = await server.steady(phases.writeEvents, 100, true);
  return {
    burstUs: median(bursts.map(({ us }) => us)),
    burstMs: median(bursts.map(({ ms }) => ms)),
    steadyUs,
    p50Ms: write.p50Ms,
    p99Ms: write.p99Ms,
    requestsPerReconcile: write.requests / phases.writeEvents,
  };
}
