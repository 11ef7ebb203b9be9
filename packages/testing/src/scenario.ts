import type { Transport } from '@slipway/kube';
import type { Controller, LogEntry } from '@slipway/runtime';

import type { OtherCalls } from './killable-transport.ts';
import { logText } from './log-text.ts';
import type { TestCluster, TestManager } from './test-cluster.ts';
import { WriteCount, type WriteBound } from './write-count.ts';

/** A life an operator leads its objects through, so that it can be disturbed anywhere. */
export interface Scenario {
  readonly name: string;
  /** A fresh cluster. */
  cluster(): Promise<TestCluster>;
  /** Fresh controllers, as after a restart of the process, whose calls to others than the API server go through `calls`. */
  controllers(calls: OtherCalls): readonly Controller[];
  /** What users do, one after another. Each must be safe to do once, whatever state the operator is in. */
  readonly steps: readonly ScenarioStep[];
  /** The end state, without what differs from run to run (uids, times, versions). */
  snapshot(cluster: TestCluster): Promise<unknown>;
  /** Called once for each run; may hook observers into the cluster and throw from `verify`. */
  watch?(cluster: TestCluster): { verify(): void | Promise<void> };
  /** How often the operator may write an object while nothing changes. */
  readonly writes?: WriteBound;
}

export interface ScenarioStep {
  readonly name: string;
  run(cluster: TestCluster): Promise<void>;
  /** Whether the operator has come to rest where it should. */
  settled(cluster: TestCluster): Promise<boolean>;
}

export interface SweepOptions {
  /** Which requests are disturbed. Default: writes; a crash around a read leaves the same state as one after the write before it. */
  readonly at?: 'writes' | 'all';
  /** Every n-th point only. Default 1. */
  readonly stride?: number;
  /** Right before a request, right after it, or both. Default both: for requests one after another, after one is before the next. */
  readonly phases?: readonly ('before' | 'after')[];
  /** Told of each point before it is tried. */
  readonly progress?: (point: string) => void;
}

export interface SweepResult {
  readonly scenario: string;
  /** How many points were disturbed. */
  readonly points: number;
  /** How many requests the undisturbed run counted. */
  readonly requests: number;
}

/** How one run is disturbed. */
export interface Disturbance {
  /** For error texts. */
  describe(): string;
  /** Time passes after every step, not only after the last. */
  readonly lingers?: boolean;
  /** The operator's way to the server. `restart` starts a new process in place of the one that died. */
  wrap(transport: Transport, restart: () => void): Transport & Partial<OtherCalls>;
}

/** How a run of a scenario ended. */
export interface PlayedScenario {
  readonly snapshot: unknown;
  /** What the operator logged, all its processes one after another. */
  readonly logs: readonly LogEntry[];
}

/** A process nothing happens to. */
const undisturbed: OtherCalls = { around: (_call, work) => work() };

const limitMs = 7_200_000;

/**
 * Plays a scenario to its end. At its end, and if asked after every step, nothing changes for a while: the operator must write
 * no object more often than a few times then. The error of a run that fails has the operator's last log lines.
 */
export async function playScenario(scenario: Scenario, disturbance: Disturbance): Promise<PlayedScenario> {
  await using cluster = await scenario.cluster();
  const watch = scenario.watch?.(cluster);
  const writes = new WriteCount();
  const staysQuiet = async (step: ScenarioStep): Promise<void> => {
    // Real time is too dear to let it pass.
    if (cluster.type === 'embedded') await writes.quiet(cluster, `after ${step.name}`, scenario.writes);
  };
  let running: TestManager | undefined;
  const processes: TestManager[] = [];
  const logs = () => processes.flatMap((process) => process.logs);
  let restarting: Promise<void> | undefined;

  const start = async (): Promise<void> => {
    const transport = disturbance.wrap(writes.counting(cluster.transport()), () => {
      restarting ??= restart();
    });
    const calls = 'around' in transport ? (transport as OtherCalls) : undisturbed;
    running = await cluster.run(scenario.controllers(calls), { cluster: { transport }, gracefulStopMs: 0 });
    processes.push(running);
  };
  const restart = async (): Promise<void> => {
    await running?.stop();
    await start();
  };

  await start();
  try {
    for (const step of scenario.steps) {
      await step.run(cluster);
      await cluster.eventually(step.name, async () => await step.settled(cluster), { withinMs: limitMs });
      if (disturbance.lingers) await staysQuiet(step);
    }
    if (restarting !== undefined) {
      await driven(cluster, 'the operator starts again', restarting);
      // The new process may have found something to do at the very end.
      const last = scenario.steps.at(-1)!;
      await cluster.eventually(`${last.name}, after the restart`, async () => await last.settled(cluster), {
        withinMs: limitMs,
      });
    }
    await staysQuiet(scenario.steps.at(-1)!);
    await watch?.verify();
    return { snapshot: await scenario.snapshot(cluster), logs: logs() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${scenario.name}, ${disturbance.describe()}: ${message}${logText(logs())}`, { cause: error });
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

/** Throws when two runs of a scenario ended differently, with the first difference and what the operator logged last. */
export function compareEnds(scenario: Scenario, calm: PlayedScenario, disturbed: PlayedScenario, how: string): void {
  const difference = firstDifference(calm.snapshot, disturbed.snapshot, '');
  if (difference) throw new Error(`${scenario.name}: ${how}, the end differs: ${difference}${logText(disturbed.logs)}`);
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
