import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startCluster } from './cluster.ts';
import { testClient } from './test-client.ts';
import { VirtualClock } from './virtual-clock.ts';

const path = '/api/v1/namespaces/default/events';
const event = (name: string) => ({
  metadata: { name },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
  reason: 'Tested',
});

it('Events go an hour after they were last written, and watchers hear of it', async () => {
  const clock = new VirtualClock();
  await using cluster = await startCluster({ clock, controllers: 'none' });
  const client = testClient(cluster);
  await client.post(path, event('quiet'));
  await client.post(path, event('lively'));
  await client.post(path, event('removed'));
  const watch = await client.watch(`${path}?watch=true&timeoutSeconds=7200&resourceVersion=${cluster.revision}`);
  await clock.advance(1_800_000);
  await client.merge(`${path}/lively`, { count: 2 });
  await client.delete(`${path}/removed`);
  await clock.advance(1_800_000);
  expect(watch.summary()).toEqual(['MODIFIED lively', 'DELETED removed', 'DELETED quiet']);
  await clock.advance(1_799_999);
  expect((await client.get(path)).body.items.map(({ metadata }) => metadata.name)).toEqual(['lively']);
  await clock.advance(1);
  expect((await client.get(path)).body.items).toEqual([]);
});

it('Events of an earlier start expire too', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'slipway-events-'));
  const clock = new VirtualClock();
  const options = { clock, dataDir, controllers: 'none', eventTtlMs: 1_000 } as const;
  try {
    const first = await startCluster(options);
    await testClient(first).post(path, event('old'));
    await first.stop();
    await using second = await startCluster(options);
    await clock.advance(999);
    expect((await testClient(second).get(path)).body.items).toHaveLength(1);
    await clock.advance(1);
    expect((await testClient(second).get(path)).body.items).toEqual([]);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

it('Events can be kept for ever', async () => {
  const clock = new VirtualClock();
  await using cluster = await startCluster({ clock, controllers: 'none', eventTtlMs: Infinity });
  await testClient(cluster).post(path, event('kept'));
  expect(clock.pendingTimers).toBe(0);
});
