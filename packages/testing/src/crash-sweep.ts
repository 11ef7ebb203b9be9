import type { TransportRequest } from '@slipway/kube';

import { KillableTransport } from './killable-transport.ts';
import { isLease, isWrite } from './requests.ts';
import { compareEnds, playScenario, type Scenario, type SweepOptions, type SweepResult } from './scenario.ts';
import { onReference } from './test-cluster.ts';

interface CrashPoint {
  readonly index: number;
  readonly phase: 'before' | 'after';
}

export interface CrashSweepOptions extends SweepOptions {
  /** Which of those requests. Default: all. */
  readonly of?: (request: TransportRequest) => boolean;
  /** The number of the one to begin at: a few points say more in the middle of the work. Default 0. */
  readonly first?: number;
}

export interface CrashSweepResult extends SweepResult {
  /** The calls it died at, as `METHOD path`. */
  readonly killedAt: readonly string[];
}

/**
 * Runs a scenario once undisturbed, then once for every request its operator makes, killing the operator's process right
 * before and right after that request takes effect and starting a new one. Every run must end in the same state, with the
 * observer content at every instant, and with no object written over and over while nothing changes. The error of a failing
 * run names the request.
 */
export async function sweepCrashes(scenario: Scenario, options: CrashSweepOptions = {}): Promise<CrashSweepResult> {
  // Real time is too dear to let it pass after every step, and without that it would only be the next run once more.
  if (!onReference)
    await playScenario(scenario, { lingers: true, describe: () => 'undisturbed', wrap: (transport) => transport });
  const calm = await crashOnce(scenario, options, undefined);
  const killedAt: string[] = [];
  for (let index = options.first ?? 0; index < calm.requests; index += options.stride ?? 1) {
    for (const phase of options.phases ?? (['before', 'after'] as const)) {
      options.progress?.(`${phase} request ${index} of ${calm.requests}`);
      const run = await crashOnce(scenario, options, { index, phase });
      if (run.disturbedAt === undefined) continue;
      killedAt.push(run.disturbedAt);
      compareEnds(scenario, calm.played, run.played, `killed ${phase} ${run.disturbedAt} (request ${index})`);
    }
  }
  return { scenario: scenario.name, points: killedAt.length, requests: calm.requests, killedAt };
}

async function crashOnce(scenario: Scenario, options: CrashSweepOptions, point: CrashPoint | undefined) {
  const isPoint = options.at === 'all' ? () => true : isWrite;
  // Who leads is the runtime's own story, and it renews as long as a scenario lasts.
  const counts = (request: TransportRequest): boolean =>
    isPoint(request) && !isLease(request) && (options.of?.(request) ?? true);
  let requests = 0;
  let disturbedAt: string | undefined;
  const played = await playScenario(scenario, {
    describe: () =>
      point && disturbedAt ? `killed ${point.phase} ${disturbedAt} (request ${point.index})` : 'undisturbed',
    wrap: (transport, restart) =>
      new KillableTransport(
        transport,
        (request, phase) => {
          if (!counts(request)) return false;
          const index = requests;
          if (phase === 'after') requests += 1;
          if (disturbedAt !== undefined || point?.phase !== phase || point.index !== index) return false;
          disturbedAt = `${request.method} ${request.path}`;
          return true;
        },
        restart,
      ),
  });
  return { requests, disturbedAt, played };
}
