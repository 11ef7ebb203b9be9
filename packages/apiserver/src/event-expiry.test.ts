import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { guardedClock } from './clock.ts';
import { startCluster } from './cluster.ts';
import { expireEvents } from './event-expiry.ts';
import { memoryStorage } from './store/storage.ts';
import { Store } from './store/store.ts';
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

it('an Event that cannot go because the disk is full goes later, and nothing ends because of it', async () => {
  const virtual = new VirtualClock();
  const reported: unknown[] = [];
  const clock = guardedClock(virtual, (error) => reported.push(error));
  let full = false;
  const store = new Store({
    clock,
    storage: {
      ...memoryStorage,
      append() {
        if (full) throw new Error('database or disk is full');
      },
    },
  });
  const expiry = expireEvents({ store, clock, ttlMs: 1_000 });
  store.put('events', 'n/a', { metadata: { name: 'a' } });
  store.put('events', 'n/b', { metadata: { name: 'b' } });
  full = true;
  await virtual.advance(1_000);
  expect(reported[0]).toEqual(new Error('database or disk is full'));
  expect(store.count('events')).toBe(2);
  full = false;
  await virtual.advance(120_000);
  expect(store.count('events')).toBe(0);
  expiry.stop();
});
