import type { Transport, TransportRequest } from '@slipway/kube';
import { type TestManager } from '@slipway/testing';
import { expect, test } from 'vitest';

import { everything, key, Landscape, mcp } from './landscape.ts';

/** Counts what goes to a cluster, but for what others do there. */
class WriteLog {
  readonly writes: string[] = [];

  through(inner: Transport): Transport {
    return {
      send: (request, signal) => {
        this.#note(request);
        return inner.send(request, signal);
      },
      open: (request, handler) => inner.open(request, handler),
      close: () => inner.close(),
    };
  }

  #note({ method, path }: TransportRequest): void {
    if (method !== 'GET') this.writes.push(`${method} ${path.split('?')[0]}`);
  }
}

/** Makes every controller look at every object again, as a resync and a restart do. */
async function restart(landscape: Landscape, running: TestManager, log: WriteLog): Promise<TestManager> {
  await running.stop();
  const next = await landscape.run(log.through(landscape.cluster.transport()));
  // Longer than every poll of the contract.
  await landscape.cluster.advance(landscape.cluster.embedded ? 180_000 : 3_000);
  return next;
}

test('looking at everything again writes nothing, neither here nor on the control plane', async () => {
  await using landscape = await Landscape.open();
  const log = new WriteLog();
  landscape.throughTarget = (transport) => log.through(transport);
  const { client } = landscape.cluster;
  const names = [key.name, 'second', 'third'];
  // Nobody has a right: the server drops an empty list, which must not look like a difference.
  for (const name of names) await client.create(mcp({ ...everything, authorization: { roleBindings: [] } }, name));
  const first = await landscape.run(log.through(landscape.cluster.transport()));
  for (const name of names) await landscape.ready(name);
  // What was on its way arrives: the last status is written after the control plane is ready.
  const second = await restart(landscape, first, log);
  log.writes.length = 0;
  await restart(landscape, second, log);
  expect(log.writes).toEqual([]);
});
