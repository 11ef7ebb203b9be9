import type { TransportRequest } from '@slipway/kube';
import type { Controller } from '@slipway/runtime';

import { KillableTransport } from './killable-transport.ts';
import type { TestCluster, TestManager } from './test-cluster.ts';

/** A life an operator leads its objects through, so that it can be interrupted anywhere. */
export interface CrashScenario {
  readonly name: string;
  /** A fresh cluster. */
  cluster(): Promise<TestCluster>;
  /** Fresh controllers, as after a restart of the process. */
  controllers(): readonly Controller[];
  /** What users do, one after another. Each must be safe to do once, whatever state the operator is in. */
  readonly steps: readonly CrashStep[];
  /** The end state, without what differs from run to run (uids, times, versions). */
  snapshot(cluster: TestCluster): Promise<unknown>;
  /** Called once for each run; may hook observers into the embedded cluster and throw from `verify`. */
  watch?(cluster: TestCluster): { verify(): void };
}

export interface CrashStep {
  readonly name: string;
  run(cluster: TestCluster): Promise<void>;
  /** Whether the operator has come to rest where it should. */
  settled(cluster: TestCluster): Promise<boolean>;
  /** Go on to the next step without waiting: the next change hits the operator in the middle of this one. Default false. */
  readonly hurried?: boolean;
}

export interface CrashSweepOptions {
  /** Which requests the process is killed at. Default: writes; a crash around a read leaves the same state as one after the write before it. */
  readonly at?: 'writes' | 'all';
  /** Every n-th point only. Default 1. */
  readonly stride?: number;
  /** Told of each point before it is tried. */
  readonly progress?: (point: { index: number; phase: 'before' | 'after'; of: number }) => void;
}

export interface CrashSweepResult {
  readonly scenario: string;
  /** How many (request, before or after) points the process was killed at. */
  readonly points: number;
  readonly requests: number;
}

interface CrashPoint {
  readonly index: number;
  readonly phase: 'before' | 'after';
}

/**
 * Runs a scenario once undisturbed, then once for every request its operator makes, killing the operator's process right
 * before and right after that request takes effect and starting a new one. Every run must end in the same state, with the
 * observer content at every instant. The error of a failing run names the request.
 */
export async function sweepCrashes(
  scenario: CrashScenario,
  options: CrashSweepOptions = {},
): Promise<CrashSweepResult> {
  const counts = options.at === 'all' ? () => true : isWrite;
  const calm = await runOnce(scenario, counts, undefined);
  let points = 0;
  for (let index = 0; index < calm.requests; index += options.stride ?? 1) {
    for (const phase of ['before', 'after'] as const) {
      options.progress?.({ index, phase, of: calm.requests });
      const run = await runOnce(scenario, counts, { index, phase });
      if (!run.killedAt) continue;
      points += 1;
      const difference = firstDifference(calm.snapshot, run.snapshot, '');
      if (difference)
        throw new Error(
          `${scenario.name}: killed ${phase} ${run.killedAt} (request ${index}), the end differs: ${difference}`,
        );
    }
  }
  return { scenario: scenario.name, points, requests: calm.requests };
}

function isWrite(request: TransportRequest): boolean {
  // Events tell people what happened; nothing depends on them.
  return request.method !== 'GET' && !request.path.includes('/events') && !request.path.includes('dryRun=All');
}

async function runOnce(
  scenario: CrashScenario,
  counts: (request: TransportRequest) => boolean,
  point: CrashPoint | undefined,
) {
  await using cluster = await scenario.cluster();
  const watch = scenario.watch?.(cluster);
  let requests = 0;
  let killedAt: string | undefined;
  let running: TestManager | undefined;
  let dying: Promise<void> | undefined;

  const start = async (): Promise<void> => {
    const transport = new KillableTransport(
      cluster.transport(),
      (request, phase) => {
        if (!counts(request)) return false;
        const index = requests;
        if (phase === 'after') requests += 1;
        const hit = killedAt === undefined && point !== undefined && point.phase === phase && point.index === index;
        if (hit) killedAt = `${request.method} ${request.path}`;
        return hit;
      },
      () => {
        if (killedAt !== undefined && dying === undefined) dying = restart();
      },
    );
    running = await cluster.run(scenario.controllers(), { cluster: { transport }, gracefulStopMs: 0 });
  };
  const restart = async (): Promise<void> => {
    await running?.stop();
    await start();
  };

  await start();
  try {
    for (const step of scenario.steps) {
      await step.run(cluster);
      if (step.hurried) continue;
      await cluster.eventually(`${scenario.name}: ${step.name}`, async () => await step.settled(cluster), {
        withinMs: 7_200_000,
      });
    }
    if (dying !== undefined) {
      await driven(cluster, 'the operator starts again', dying);
      // The new process may have found something to do at the very end.
      const last = scenario.steps.at(-1)!;
      await cluster.eventually(
        `${scenario.name}: ${last.name} after the restart`,
        async () => await last.settled(cluster),
        { withinMs: 7_200_000 },
      );
    }
    watch?.verify();
    return { requests, killedAt, snapshot: await scenario.snapshot(cluster) };
  } catch (error) {
    const where = point && killedAt ? `killed ${point.phase} ${killedAt} (request ${point.index})` : 'undisturbed';
    throw new Error(`${scenario.name}, ${where}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  } finally {
    if (running !== undefined) await driven(cluster, 'the operator stops', running.stop());
  }
}

/** Awaits something that may need (virtual) time to pass. */
async function driven(cluster: TestCluster, what: string, work: Promise<void>): Promise<void> {
  let done = false;
  const finished = work.finally(() => (done = true));
  await cluster.eventually(what, () => done);
  await finished;
}

function firstDifference(a: unknown, b: unknown, path: string): string | undefined {
  if (Object.is(a, b)) return undefined;
  if (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      const found = firstDifference(
        (a as Record<string, unknown>)[key],
        (b as Record<string, unknown>)[key],
        `${path}.${key}`,
      );
      if (found) return found;
    }
    return undefined;
  }
  return `${path || 'root'}: ${JSON.stringify(a)} became ${JSON.stringify(b)}`;
}
