import { ConfigMap, type Transport } from '@slipway/kube';
import { VirtualClock } from '@slipway/testing';
import { expect, test } from 'vitest';

import { silentLogger } from '../log/logger.ts';
import { startManager } from '../manager/manager.ts';
import { controller } from './controller.ts';

const count = 20_000;

/** A server that lists so many ConfigMaps at once and then has no news: too many to create one by one. */
function largeCluster(): Transport {
  const items = Array.from({ length: count }, (_, index) => ({
    metadata: { namespace: 'default', name: `c${index}`, uid: `u${index}`, resourceVersion: '7' },
  }));
  const list = { apiVersion: 'v1', kind: 'ConfigMapList', metadata: { resourceVersion: '7' }, items };
  const body = Buffer.from(JSON.stringify(list));
  return {
    send: () => Promise.reject(new Error('nothing but lists and watches is served')),
    open(request, handler) {
      const watches = request.path.includes('watch=');
      const streamed = request.path.includes('sendInitialEvents=');
      setImmediate(() => {
        handler.head(streamed ? 422 : 200, {});
        if (!watches) handler.data(body);
        if (streamed || !watches) handler.end();
      });
      return { abort: () => undefined };
    },
    close: async () => undefined,
  };
}

/** A clock on which work takes time: a look at it costs a hundredth of a millisecond, so long work is cut into slices. */
class WorkingClock extends VirtualClock {
  #spent = 0;

  override monotonic(): number {
    this.#spent += 0.01;
    return super.monotonic() + this.#spent;
  }
}

test(`a resync reaches every one of ${count} objects`, async () => {
  const clock = new WorkingClock();
  let reconciled = new Set<string>();
  const everything = controller({
    name: 'everything',
    for: ConfigMap,
    resyncMs: 3_600_000,
    reconcile: (_context, { name }) => void reconciled.add(name),
  });
  await using manager = await startManager({
    cluster: { transport: largeCluster() },
    clock,
    log: silentLogger,
    controllers: [everything],
  });
  await clock.runUntil(() => reconciled.size === count);
  await manager.ready;
  for (let round = 0; round < 2; round += 1) {
    reconciled = new Set();
    // One resync may be half done already, and does not count; the next begins at most 1.1 hours after it.
    await clock.advance(3_600_000 * 2.2);
    for (let turns = 0; turns < 1000 && reconciled.size < count; turns += 1) await clock.advance(1);
    expect(reconciled.size).toBe(count);
  }
});
