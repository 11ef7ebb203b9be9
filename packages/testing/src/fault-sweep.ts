import type { Clock, Stream, StreamHandler, Transport, TransportRequest, TransportResponse } from '@slipway/kube';

import { isWrite } from './requests.ts';
import { compareEnds, playScenario, type Scenario, type SweepOptions, type SweepResult } from './scenario.ts';

/**
 * Runs a scenario with the network at its worst, and compares each end with the undisturbed one: every write refused once as
 * a conflict; every write's answer lost once although it took effect; all watches late, so that the cache is stale at every
 * decision; all watches broken off again and again, so that events are missed.
 */
export async function sweepFaults(scenario: Scenario, options: SweepOptions = {}): Promise<SweepResult> {
  let requests = 0;
  const calm = await playScenario(scenario, {
    describe: () => 'undisturbed',
    wrap: (transport) => onWrite(transport, () => void (requests += 1)),
  });
  let points = 0;
  const attempt = async (name: string, wrap: (transport: Transport) => Transport): Promise<void> => {
    options.progress?.(name);
    const end = await playScenario(scenario, { describe: () => name, wrap });
    points += 1;
    compareEnds(scenario, calm, end, name);
  };
  for (let index = 0; index < requests; index += options.stride ?? 1) {
    await attempt(`write ${index} refused as a conflict`, (transport) => atWrite(transport, index, conflict));
    await attempt(`answer to write ${index} lost`, (transport) => atWrite(transport, index, lostAnswer));
  }
  const clock = { current: undefined as Clock | undefined };
  const timed: Scenario = {
    ...scenario,
    async cluster() {
      const cluster = await scenario.cluster();
      clock.current = cluster.clock;
      return cluster;
    },
  };
  for (const delayMs of [200, 5_000]) {
    options.progress?.(`watches ${delayMs} ms late`);
    const end = await playScenario(timed, {
      describe: () => `watches ${delayMs} ms late`,
      wrap: (transport) => lateWatches(transport, () => clock.current!, delayMs),
    });
    points += 1;
    compareEnds(scenario, calm, end, `watches ${delayMs} ms late`);
  }
  await attempt('watches that break off after every third event', (transport) => brokenWatches(transport, 3));
  return { scenario: scenario.name, points, requests };
}

type Act = (send: () => Promise<TransportResponse>, request: TransportRequest) => Promise<TransportResponse>;

function onWrite(inner: Transport, act: () => void): Transport {
  return {
    async send(request, signal) {
      if (isWrite(request)) act();
      return await inner.send(request, signal);
    },
    open: (request, handler) => inner.open(request, handler),
    close: () => inner.close(),
  };
}

/** Acts on the write with this number instead of sending it plainly. */
function atWrite(inner: Transport, index: number, act: Act): Transport {
  let seen = 0;
  return {
    async send(request, signal) {
      const send = () => inner.send(request, signal);
      if (!isWrite(request)) return await send();
      const hit = seen === index;
      seen += 1;
      return hit ? await act(send, request) : await send();
    },
    open: (request, handler) => inner.open(request, handler),
    close: () => inner.close(),
  };
}

const conflict: Act = async () => ({
  status: 409,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(
    JSON.stringify({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'Conflict',
      code: 409,
      message: 'the object has been modified (injected)',
      details: {},
    }),
  ),
});

const lostAnswer: Act = async (send) => {
  await send();
  throw Object.assign(new Error('connection lost after the request was sent (injected)'), { code: 'ECONNRESET' });
};

/** The cache learns of everything late: what reconcilers read from it is old. */
function lateWatches(inner: Transport, clock: () => Clock, delayMs: number): Transport {
  return {
    send: (request, signal) => inner.send(request, signal),
    open(request, handler) {
      let open = true;
      const later = (act: () => void) => void clock().schedule(delayMs, () => open && act());
      const stream = inner.open(request, {
        head: (status, headers) => handler.head(status, headers),
        data: (chunk) => later(() => handler.data(chunk)),
        end: () => later(() => handler.end()),
        error: (error) => later(() => handler.error(error)),
      });
      return {
        abort() {
          open = false;
          stream.abort();
        },
      };
    },
    close: () => inner.close(),
  };
}

/** Every watch breaks after a few chunks; what happens until it is opened again must not be missed. */
function brokenWatches(inner: Transport, after: number): Transport {
  return {
    send: (request, signal) => inner.send(request, signal),
    open(request, handler): Stream {
      let left = after;
      let broken = false;
      const passing: StreamHandler = {
        ...handler,
        head: (status, headers) => handler.head(status, headers),
        data(chunk) {
          if (broken) return;
          handler.data(chunk);
          left -= 1;
          if (left > 0) return;
          broken = true;
          stream.abort();
          handler.error(Object.assign(new Error('watch broken off (injected)'), { code: 'ECONNRESET' }));
        },
        end: () => !broken && handler.end(),
        error: (error) => !broken && handler.error(error),
      };
      const stream = inner.open(request, passing);
      return stream;
    },
    close: () => inner.close(),
  };
}
