import { startCluster } from '@slipway/apiserver';
import { ConfigMap, createClient, Event, Lease, sleep } from '@slipway/kube';
import { VirtualClock } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { controller, type Reconcile } from '../../src/controller/controller.ts';
import { memoryLogger } from '../../src/log/logger.ts';
import { LeadershipLostError } from '../../src/manager/leader-elector.ts';
import { startManager } from '../../src/manager/manager.ts';
import { ProcessClock } from './process-clock.ts';

const labels = { test: 'yes' };
const key = { namespace: 'default', name: 'a' };

/** Two processes that may lead; each has a clock of its own and writes its name into the object. */
async function stage() {
  const world = new VirtualClock();
  const cluster = await startCluster({ clock: world, controllers: 'none' });
  const client = createClient({ transport: cluster.transport, fieldManager: 'test', clock: world });
  await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, labels } });
  const start = async (name: string, reconcile: Reconcile) => {
    const clock = new ProcessClock(world);
    const log = memoryLogger();
    const writing = controller({ name: 'writing', for: ConfigMap, scope: { labelSelector: labels }, reconcile });
    const manager = await startManager({
      cluster: { transport: cluster.transport },
      clock,
      log,
      controllers: [writing],
      leaderElection: { identity: name },
    });
    return { clock, log, manager, ended: manager.stopped.catch((error: unknown) => error) };
  };
  const holder = async () => (await client.get(Lease, { namespace: 'default', name: 'writing' }))?.spec?.holderIdentity;
  const data = async () => (await client.get(ConfigMap, key))?.data;
  return { world, cluster, client, start, holder, data, [Symbol.asyncDispose]: () => cluster.stop() };
}

/** Writes who leads, over whatever the other one wrote. */
const writes =
  (name: string, before: Parameters<Reconcile>[0] extends infer C ? (context: C) => Promise<void> : never): Reconcile =>
  async (context) => {
    await before(context);
    await context.client.patch(ConfigMap, key, { type: 'merge', body: { data: { [name]: 'wrote' } } });
  };

describe('a process that lost its lease without noticing', () => {
  test('writes nothing when it wakes after a take-over', async () => {
    await using scene = await stage();
    const { world, start, holder, data } = scene;
    let begun = false;
    const sleeper = await start(
      'sleeper',
      writes('sleeper', async ({ clock }) => {
        begun = true;
        await sleep(clock, 5000);
      }),
    );
    await world.runUntil(() => begun);
    sleeper.clock.freeze();
    const next = await start(
      'next',
      writes('next', async () => undefined),
    );
    await world.advance(60_000);
    expect(await holder()).toBe('next');
    expect(await data()).toEqual({ next: 'wrote' });
    sleeper.clock.thaw();
    await world.advance(5000);
    expect(await data()).toEqual({ next: 'wrote' });
    expect(await sleeper.ended).toBeInstanceOf(LeadershipLostError);
    const stopping = next.manager.stop();
    await world.advance(40_000);
    await stopping;
  });

  test('writes no event either: neither a new one nor how often an old one came again', async () => {
    await using scene = await stage();
    const { world, start, client } = scene;
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };
    let told = 0;
    const sleeper = await start('sleeper', async ({ clock, events }) => {
      events.normal(object, 'Before', 'it fell asleep');
      events.normal(object, 'Before', 'it fell asleep');
      told += 1;
      (clock as ProcessClock).compute(12_000);
      events.normal(object, 'After', 'it woke');
      told += 1;
    });
    await world.runUntil(() => told > 1);
    await world.advance(30_000);
    expect(await sleeper.ended).toBeInstanceOf(LeadershipLostError);
    const written = await Array.fromAsync(client.list(Event, { namespace: 'default' }));
    expect(written.map(({ reason, series }) => [reason, series?.count])).toEqual([]);
    expect(sleeper.log.entries.map(({ fields }) => fields['error'])).toContainEqual(expect.any(LeadershipLostError));
  });

  test('writes nothing after it has computed for longer than the renew deadline, though nobody took over yet', async () => {
    await using scene = await stage();
    const { world, start, data } = scene;
    const errors: unknown[] = [];
    const busy = await start('busy', async (context) => {
      if (errors.length > 0) return;
      (context.clock as ProcessClock).compute(12_000);
      await writes('busy', async () => undefined)(context, key);
    });
    const reported = () => busy.log.entries.flatMap(({ fields }) => fields['error'] ?? []);
    await world.runUntil(() => reported().length > 0);
    errors.push(...reported());
    expect(errors[0]).toBeInstanceOf(LeadershipLostError);
    expect(await data()).toBeUndefined();
    await world.advance(30_000);
    expect(await busy.ended).toBeInstanceOf(LeadershipLostError);
  });

  test('writes nothing when the server asked it to come back later and it came back too late', async () => {
    await using scene = await stage();
    const { world, cluster, start, data } = scene;
    const busy = { type: 'error', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 } as const;
    cluster.faults.add({ match: { resource: 'configmaps', verb: 'patch', times: 1 }, action: busy });
    let asked = 0;
    const patient = await start(
      'patient',
      writes('patient', async () => void (asked += 1)),
    );
    await world.runUntil(() => asked === 1);
    await world.advance(0);
    patient.clock.freeze();
    await world.advance(20_000);
    patient.clock.thaw();
    await world.advance(5000);
    expect(await data()).toBeUndefined();
    expect(await patient.ended).toBeInstanceOf(LeadershipLostError);
  });

  test('writes nothing to another cluster either', async () => {
    await using scene = await stage();
    const { world, start, data } = scene;
    let refused: unknown;
    const busy = await start('busy', async (context) => {
      if (refused) return;
      (context.clock as ProcessClock).compute(12_000);
      const { client } = context.cluster('main');
      await client.patch(ConfigMap, key, { type: 'merge', body: { data: { x: 'y' } } }).catch((error: unknown) => {
        refused = error;
      });
    });
    await world.runUntil(() => refused !== undefined);
    expect(refused).toBeInstanceOf(LeadershipLostError);
    expect(await data()).toBeUndefined();
    await world.advance(30_000);
    await busy.ended;
  });
});

describe('somebody sets the clock', () => {
  test.each([3_600_000, -3_600_000])('by %i ms: a healthy leader goes on leading and writing', async (jump) => {
    await using scene = await stage();
    const { world, start, holder, data, client } = scene;
    const leader = await start(
      'leader',
      writes('leader', async () => undefined),
    );
    const standby = await start(
      'standby',
      writes('standby', async () => undefined),
    );
    await world.advance(5000);
    expect(await holder()).toBe('leader');
    leader.clock.set(jump);
    standby.clock.set(-jump);
    await world.advance(60_000);
    expect(await holder()).toBe('leader');
    await client.patch(ConfigMap, key, { type: 'merge', body: { data: { leader: null, please: 'write' } } });
    await world.advance(1000);
    expect(await data()).toEqual({ please: 'write', leader: 'wrote' });
    for (const { manager } of [leader, standby]) {
      const stopping = manager.stop();
      await world.advance(40_000);
      await stopping;
    }
  });

  test.each([3_600_000, -3_600_000])(
    'by %i ms: a dead leader is succeeded when its lease has run out, not before',
    async (jump) => {
      await using scene = await stage();
      const { world, start, holder } = scene;
      const leader = await start(
        'leader',
        writes('leader', async () => undefined),
      );
      await world.advance(5000);
      const standby = await start(
        'standby',
        writes('standby', async () => undefined),
      );
      await world.advance(5000);
      leader.clock.freeze();
      // Long enough for the standby to have seen the last renewal.
      await world.advance(3000);
      standby.clock.set(jump);
      await world.advance(9000);
      expect(await holder()).toBe('leader');
      await world.advance(8000);
      expect(await holder()).toBe('standby');
      leader.clock.thaw();
      await world.advance(1000);
      expect(await leader.ended).toBeInstanceOf(LeadershipLostError);
      const stopping = standby.manager.stop();
      await world.advance(40_000);
      await stopping;
    },
  );
});
