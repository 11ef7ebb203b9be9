import type { TransportRequest } from '@slipway/kube';

import { KillableTransport } from './killable-transport.ts';
import { isLease, isWrite } from './requests.ts';
import { compareEnds, playScenario, type Scenario, type SweepOptions, type SweepResult } from './scenario.ts';

interface CrashPoint {
  readonly index: number;
  readonly phase: 'before' | 'after';
}

/**
 * Runs a scenario once undisturbed, then once for every request its operator makes, killing the operator's process right
 * before and right after that request takes effect and starting a new one. Every run must end in the same state, with the
 * observer content at every instant, and with no object written over and over while nothing changes. The error of a failing
 * run names the request.
 */
export async function sweepCrashes(scenario: Scenario, options: SweepOptions = {}): Promise<SweepResult> {
  await playScenario(scenario, { lingers: true, describe: () => 'undisturbed', wrap: (transport) => transport });
  const calm = await crashOnce(scenario, options, undefined);
  let points = 0;
  for (let index = 0; index < calm.requests; index += options.stride ?? 1) {
    for (const phase of options.phases ?? (['before', 'after'] as const)) {
      options.progress?.(`${phase} request ${index} of ${calm.requests}`);
      const run = await crashOnce(scenario, options, { index, phase });
      if (run.disturbedAt === undefined) continue;
      points += 1;
      compareEnds(scenario, calm.played, run.played, `killed ${phase} ${run.disturbedAt} (request ${index})`);
    }
  }
  return { scenario: scenario.name, points, requests: calm.requests };
}

async function crashOnce(scenario: Scenario, options: SweepOptions, point: CrashPoint | undefined) {
  const isPoint = options.at === 'all' ? () => true : isWrite;
  // Who leads is the runtime's own story, and it renews as long as a scenario lasts.
  const counts = (request: TransportRequest): boolean => isPoint(request) && !isLease(request);
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
