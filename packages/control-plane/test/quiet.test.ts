import { onReference, skipped, type TestManager } from '@slipway/testing';
import { expect, test } from 'vitest';

import { everything, key, Landscape, mcp } from './landscape.ts';
import { RequestLog } from './request-log.ts';

/** Makes every controller look at every object again, as a resync and a restart do. */
async function restart(
  landscape: Landscape,
  running: TestManager,
  log: RequestLog,
  // Longer than every poll of the contract.
  forMs = landscape.cluster.embedded ? 180_000 : 3_000,
): Promise<TestManager> {
  await running.stop();
  const next = await landscape.run(log.through(landscape.cluster.transport()));
  await landscape.cluster.advance(forMs);
  return next;
}

test('looking at everything again writes nothing, neither here nor on the control plane', async () => {
  await using landscape = await Landscape.open();
  const log = new RequestLog();
  landscape.throughTarget = (transport) => log.through(transport);
  const { client } = landscape.cluster;
  const names = [key.name, 'second', 'third'];
  // Nobody has a right: the server drops an empty list, which must not look like a difference.
  for (const name of names) await client.create(mcp({ ...everything, authorization: { roleBindings: [] } }, name));
  const first = await landscape.run(log.through(landscape.cluster.transport()));
  for (const name of names) await landscape.ready(name);
  // What was on its way arrives: the last status is written after the control plane is ready.
  const second = await restart(landscape, first, log);
  log.clear();
  await restart(landscape, second, log);
  expect(log.writes).toEqual([]);
});

const embeddedOnly = skipped(onReference, 'on the real API server: how often is read, which needs virtual time');

test.skipIf(embeddedOnly)(
  'looking at everything again reads little, and while nothing changes nothing but whether the control plane answers',
  async () => {
    await using landscape = await Landscape.open();
    const [here, there] = [new RequestLog(), new RequestLog()];
    landscape.throughTarget = (transport) => there.through(transport);
    await landscape.cluster.client.create(mcp());
    const first = await landscape.run();
    await landscape.ready();
    await landscape.cluster.advance(180_000);
    here.clear();
    there.clear();
    const second = await restart(landscape, first, here, 1_000);
    const last = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
    // Of six controllers for five components, and of what was handed over to others.
    expect(here.reads.length).toBeLessThan(25);
    // What is watched is read once at most, until the watch has loaded it. Which cluster it is, and whether it still knows us, is asked each time.
    const watched = there.reads.map(last).filter((read) => read !== 'kube-system' && read !== 'admin');
    const roles = ['namespaces', 'clusterroles', 'clusterrolebindings', 'rolebindings'];
    expect(['serviceaccounts', 'openidconnects', 'clusterrolebindings', ...roles]).toEqual(
      expect.arrayContaining(watched),
    );
    expect(there.reads.length).toBeLessThan(10);

    await landscape.cluster.advance(10_000);
    here.clear();
    there.clear();
    // Shorter than the interval in which is looked what became of things handed over to others.
    await landscape.cluster.advance(15_000);
    // Once for all: does it answer?
    expect(there.reads.splice(0)).toEqual(['GET /readyz']);
    expect([...here.reads, ...there.reads, ...here.writes, ...there.writes]).toEqual([]);
    await second.stop();
  },
);
