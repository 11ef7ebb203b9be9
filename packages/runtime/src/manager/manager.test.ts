import { startCluster } from '@slipway/apiserver';
import { ConfigMap, createClient, defineKind, Lease, toCustomResourceDefinition, Type } from '@slipway/kube';
import { VirtualClock } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { controller, type ControllerOptions } from '../controller/controller.ts';
import { requeueAfter } from '../controller/result.ts';
import { memoryLogger } from '../log/logger.ts';
import { LeadershipLostError } from './leader-elector.ts';
import { type ManagerOptions, startManager } from './manager.ts';

/** Clusters have ConfigMaps of their own; these are ours. */
const labels = { test: 'yes' };
const scope = { labelSelector: labels };

function configMap(name: string, data: Record<string, string> = {}, namespace = 'default'): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels }, data };
}

/** A cluster, a clock and an administrator's client. */
async function stage() {
  const clock = new VirtualClock();
  const cluster = await startCluster({ clock });
  const client = createClient({ transport: cluster.transport, fieldManager: 'test', clock });
  const log = memoryLogger();
  const common: ManagerOptions = { cluster: { transport: cluster.transport }, clock, log };
  return { clock, cluster, client, log, common, [Symbol.asyncDispose]: () => cluster.stop() };
}

function counting(reconciled: string[], more: Partial<ControllerOptions<typeof ConfigMap>> = {}) {
  return controller({
    name: 'counting',
    for: ConfigMap,
    scope,
    reconcile: async (_context, key) => void reconciled.push(key.name),
    ...more,
  });
}

async function get(port: number, path: string): Promise<{ status: number; text: string }> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    })
      .on('error', reject)
      .end();
  });
}

describe('startManager', () => {
  test('reconciles what is there and what comes', async () => {
    await using scene = await stage();
    const { clock, client, common } = scene;
    await client.create(configMap('first'));
    const reconciled: string[] = [];
    await using manager = await startManager({ ...common, controllers: [counting(reconciled)] });
    await clock.runUntil(() => reconciled.includes('first'));
    await manager.ready;
    await client.create(configMap('second'));
    await clock.runUntil(() => reconciled.includes('second'));
    await client.delete(ConfigMap, { namespace: 'default', name: 'first' });
    await clock.runUntil(() => reconciled.filter((name) => name === 'first').length === 2);
    expect(reconciled).toEqual(['first', 'second', 'first']);
  });

  test('a reconciler sees its own writes in the cache', async () => {
    await using scene = await stage();
    const { clock, client, common } = scene;
    await client.create(configMap('a'));
    const seen: unknown[] = [];
    const writing = controller({
      name: 'writing',
      for: ConfigMap,
      scope,
      async reconcile({ cache, client: own }, key) {
        const before = await cache.get(ConfigMap, key);
        if (before?.data?.['done']) return;
        await own.patch(ConfigMap, key, { type: 'merge', body: { data: { done: 'yes' } } });
        seen.push((await cache.get(ConfigMap, key))?.data?.['done']);
      },
    });
    await using _manager = await startManager({ ...common, controllers: [writing] });
    await clock.runUntil(() => seen.length > 0);
    expect(seen).toEqual(['yes']);
  });

  test('requeueAfter comes back after exactly that time', async () => {
    await using scene = await stage();
    const { clock, client, common } = scene;
    await client.create(configMap('a'));
    const times: number[] = [];
    const periodic = counting([], {
      name: 'periodic',
      reconcile: async ({ clock: now }) => {
        times.push(now.now());
        return requeueAfter(600_000);
      },
    });
    await using _manager = await startManager({ ...common, controllers: [periodic] });
    await clock.runUntil(() => times.length === 3);
    expect([times[1]! - times[0]!, times[2]! - times[1]!]).toEqual([600_000, 600_000]);
  });

  test('stop lets a running reconciliation finish', async () => {
    await using scene = await stage();
    const { clock, client, common } = scene;
    await client.create(configMap('a'));
    const finish = Promise.withResolvers<void>();
    const steps: string[] = [];
    const slow = counting([], {
      name: 'slow',
      async reconcile({ signal }) {
        steps.push('begin');
        await finish.promise;
        steps.push(signal.aborted ? 'aborted' : 'end');
      },
    });
    const manager = await startManager({ ...common, controllers: [slow] });
    await clock.runUntil(() => steps.length === 1);
    const stopped = manager.stop();
    await clock.advance(29_000);
    finish.resolve();
    await clock.advance(10);
    await stopped;
    await manager.stopped;
    expect(steps).toEqual(['begin', 'end']);
  });

  test('after the grace period the signal aborts and the rest is named in the log', async () => {
    await using scene = await stage();
    const { clock, client, common, log } = scene;
    await client.create(configMap('a'));
    let begun = false;
    const stuck = counting([], {
      name: 'stuck',
      reconcile: () => {
        begun = true;
        return new Promise<void>(() => undefined);
      },
    });
    const manager = await startManager({ ...common, controllers: [stuck], gracefulStopMs: 5000 });
    await clock.runUntil(() => begun);
    const stopped = manager.stop();
    await clock.advance(6001);
    await stopped;
    expect(log.entries.find(({ level }) => level === 'warn')?.fields['left']).toEqual(['stuck default/a']);
  });

  test('two controllers of one name are refused', async () => {
    await using scene = await stage();
    const twins = [counting([]), counting([])];
    await expect(startManager({ ...scene.common, controllers: twins })).rejects.toThrow(
      "two controllers are called 'counting'",
    );
  });

  test('a cluster nobody knows is refused by name', async () => {
    await using scene = await stage();
    const controllers = [counting([], { cluster: 'moon' })];
    await expect(startManager({ ...scene.common, controllers })).rejects.toThrow(
      "controller 'counting': no cluster is called 'moon'; the manager knows main",
    );
  });

  test('another cluster can be watched and written', async () => {
    await using scene = await stage();
    const { clock, common } = scene;
    await using other = await startCluster({ clock });
    const remote = createClient({ transport: other.transport, fieldManager: 'test', clock });
    await remote.create(configMap('there'));
    const reconciled: string[] = [];
    const found: (string | undefined)[] = [];
    const bridge = controller({
      name: 'bridge',
      for: ConfigMap,
      scope,
      watches: [
        {
          kind: ConfigMap,
          cluster: 'other',
          scope,
          map: (event) => [{ namespace: 'default', name: `from-${event.key.name}` }],
        },
      ],
      async reconcile({ cluster }, key) {
        reconciled.push(key.name);
        const back = await cluster('other').cache.get(ConfigMap, { namespace: 'default', name: 'there' });
        found.push(back?.metadata.name);
        await cluster('other').client.create(configMap('answer'));
      },
    });
    await using _manager = await startManager({
      ...common,
      controllers: [bridge],
      clusters: { other: { transport: other.transport } },
    });
    await clock.runUntil(() => reconciled.includes('from-there'));
    await clock.runUntil(
      async () => (await remote.get(ConfigMap, { namespace: 'default', name: 'answer' })) !== undefined,
    );
    expect(reconciled[0]).toBe('from-there');
    expect(found[0]).toBe('there');
  });

  test('probes have one line per check and name the kind that does not load', async () => {
    await using scene = await stage();
    const { clock, cluster, common } = scene;
    const missing = {
      group: 'example.com',
      version: 'v1',
      kind: 'Website',
      plural: 'websites',
      scope: 'Namespaced',
      apiVersion: 'example.com/v1',
    } as const;
    const controllers = [counting([]), controller({ name: 'website', for: missing, reconcile: () => undefined })];
    await using manager = await startManager({
      ...common,
      controllers,
      health: { port: 0, host: '127.0.0.1', live: { disk: () => undefined } },
      metrics: { port: 0, host: '127.0.0.1' },
    });
    await clock.advance(2000);
    const health = await get(manager.ports.health!, '/healthz');
    expect(health).toEqual({ status: 200, text: '[+]ping ok\n[+]disk ok\nhealthz check passed\n' });
    const ready = await get(manager.ports.health!, '/readyz');
    expect(ready.status).toBe(500);
    expect(ready.text).toMatch(/^\[\+\]cache\/main\/ConfigMap\.v1 ok$/m);
    expect(ready.text).toMatch(/^\[-\]cache\/main\/Website\.v1\.example\.com failed: .*Website/m);
    expect((await get(manager.ports.health!, '/readyz/cache/main/ConfigMap.v1')).status).toBe(200);
    const metrics = (await get(manager.ports.metrics!, '/metrics')).text;
    for (const name of [
      'controller_runtime_reconcile_total{controller="counting",result="success"}',
      'controller_runtime_max_concurrent_reconciles{controller="counting"} 1',
      'workqueue_depth',
      'workqueue_unfinished_work_seconds{name="counting",controller="counting"} 0',
      'rest_client_requests_total{code="200",method="GET",host="main"}',
      'slipway_cache_synced{cluster="main",kind="Website.v1.example.com"} 0',
      'slipway_event_loop_delay_seconds{quantile="0.99"}',
    ]) {
      expect(metrics).toContain(name);
    }
    expect(cluster.url).toBeDefined();
  });

  test('a permission that is lost shows in /readyz, with what to grant, until it is there again', async () => {
    await using scene = await stage();
    const { clock, cluster, common } = scene;
    await using manager = await startManager({
      ...common,
      controllers: [counting([])],
      health: { port: 0, host: '127.0.0.1' },
    });
    await clock.advance(1000);
    await manager.ready;
    const ready = () => get(manager.ports.health!, '/readyz');
    expect((await ready()).status).toBe(200);
    const denied = { type: 'error', status: 403, reason: 'Forbidden', message: 'no' } as const;
    const fault = cluster.faults.add({ match: { resource: 'configmaps' }, action: denied });
    // A watch that is open goes on; the next one is refused.
    await clock.advance(700_000);
    const refused = await ready();
    expect(refused.status).toBe(500);
    expect(refused.text).toMatch(
      /^\[-\]cache\/main\/ConfigMap\.v1 failed: not allowed to watch .* Grant get, list and watch/m,
    );
    fault.remove();
    await clock.advance(60_000);
    expect(await ready()).toMatchObject({ status: 200 });
  });

  test('metrics that need a token are served to nobody without one', async () => {
    await using scene = await stage();
    const { common } = scene;
    await using manager = await startManager({
      ...common,
      metrics: { port: 0, host: '127.0.0.1', requireToken: true },
    });
    expect(await get(manager.ports.metrics!, '/metrics')).toMatchObject({ status: 401 });
  });

  test('a controller whose kind is missing holds up nobody and starts when its CRD appears', async () => {
    await using scene = await stage();
    const { clock, client, common } = scene;
    await client.create(configMap('a'));
    const Note = defineKind({
      group: 'example.com',
      version: 'v1',
      kind: 'Note',
      scope: 'Namespaced',
      spec: Type.Object({}),
    });
    const reconciled: string[] = [];
    const notes = controller({
      name: 'notes',
      for: Note,
      reconcile: (_context, key) => void reconciled.push(`note ${key.name}`),
    });
    await using manager = await startManager({ ...common, controllers: [notes, counting(reconciled)] });
    await clock.advance(60_000);
    expect(reconciled).toEqual(['a']);
    await client.create(toCustomResourceDefinition(Note));
    await clock.advance(1000);
    await client.create({
      apiVersion: 'example.com/v1',
      kind: 'Note',
      metadata: { name: 'n', namespace: 'default' },
      spec: {},
    });
    await clock.runUntil(() => reconciled.includes('note n'));
    await manager.ready;
    expect(reconciled).toEqual(['a', 'note n']);
  });

  test('a controller that needs no leader works in the standby too', async () => {
    await using scene = await stage();
    const { clock, client, common } = scene;
    await client.create(configMap('a'));
    await client.create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'counting', namespace: 'default' },
      spec: { holderIdentity: 'somebody', leaseDurationSeconds: 15 },
    });
    const led: string[] = [];
    const free: string[] = [];
    await using _manager = await startManager({
      ...common,
      controllers: [counting(led), counting(free, { name: 'free', needsLeader: false })],
      leaderElection: true,
    });
    await clock.advance(5000);
    expect([led, free]).toEqual([[], ['a']]);
  });

  test('a port that is taken is an error that says which', async () => {
    await using scene = await stage();
    await using first = await startManager({ ...scene.common, health: { port: 0, host: '127.0.0.1' } });
    const health = { port: first.ports.health!, host: '127.0.0.1' };
    await expect(startManager({ ...scene.common, health })).rejects.toThrow(
      new RegExp(`^cannot listen on 127.0.0.1:${first.ports.health}: .*EADDRINUSE`),
    );
  });

  test('a broken connection in the middle of a reconciliation is only a reason to try again', async () => {
    await using scene = await stage();
    const { clock, client, cluster, common } = scene;
    await client.create(configMap('a'));
    let attempts = 0;
    const writing = counting([], {
      async reconcile({ client: own }, key) {
        attempts += 1;
        await own.patch(ConfigMap, key, { type: 'merge', body: { data: { written: 'yes' } } });
      },
    });
    cluster.faults.add({
      match: { resource: 'configmaps', verb: 'patch', times: 2 },
      action: { type: 'drop', when: 'after' },
    });
    await using _manager = await startManager({ ...common, controllers: [writing] });
    await clock.runUntil(() => attempts >= 3);
    expect((await client.get(ConfigMap, { namespace: 'default', name: 'a' }))?.data).toEqual({ written: 'yes' });
  });
});

describe('leader election', () => {
  const lease = { namespace: 'default', name: 'counting' };

  test('one leads; the standby has its cache warm and takes over as soon as the lease is given up', async () => {
    await using scene = await stage();
    const { clock, client, common } = scene;
    await client.create(configMap('a'));
    const first: string[] = [];
    const second: string[] = [];
    const one = await startManager({
      ...common,
      controllers: [counting(first)],
      leaderElection: { identity: 'one' },
    });
    await clock.runUntil(() => first.length > 0);
    await using two = await startManager({
      ...common,
      controllers: [counting(second)],
      leaderElection: { identity: 'two' },
    });
    await clock.advance(60_000);
    await two.ready;
    expect(second).toEqual([]);
    expect((await client.get(Lease, lease))?.spec).toMatchObject({ holderIdentity: 'one', leaseDurationSeconds: 15 });
    const gone = one.stop();
    await clock.advance(1);
    await gone;
    expect((await client.get(Lease, lease))?.spec?.holderIdentity).toBe('');
    const before = clock.now();
    await clock.runUntil(() => second.length > 0);
    expect(clock.now() - before).toBeLessThanOrEqual(2400);
    expect((await client.get(Lease, lease))?.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
  });

  test('a controller whose own lease always counts runs in one process at a time, also without leader election', async () => {
    await using scene = await stage();
    const { clock, client, common } = scene;
    const own = { namespace: 'default', name: 'own' };
    await client.create(configMap('a'));
    const runs: string[][] = [[], []];
    const start = (replica: number) =>
      startManager({ ...common, controllers: [{ ...counting(runs[replica]!), lease: { ...own, always: true } }] });
    const one = await start(0);
    await clock.runUntil(() => runs[0]!.length > 0);
    await using two = await start(1);
    await clock.advance(60_000);
    await two.ready;
    expect(runs[1]).toEqual([]);
    expect((await client.get(Lease, own))?.spec?.holderIdentity).not.toBe('');
    const gone = one.stop();
    await clock.advance(1);
    await gone;
    await clock.runUntil(() => runs[1]!.length > 0);
    expect((await client.get(Lease, own))?.spec).toMatchObject({ leaseTransitions: 1 });
  });

  test('a leader that dies is succeeded when its lease has run out, not before', async () => {
    await using scene = await stage();
    const { clock, client, common } = scene;
    const died = clock.now();
    await client.create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: lease,
      spec: { holderIdentity: 'dead', leaseDurationSeconds: 15, leaseTransitions: 3 },
    });
    await using manager = await startManager({ ...common, controllers: [counting([])], leaderElection: true });
    let elected = false;
    void manager.elected.then(() => (elected = true));
    await clock.advance(14_000);
    expect(elected).toBe(false);
    await clock.runUntil(() => elected);
    expect(clock.now() - died).toBeLessThanOrEqual(17_500);
  });

  test('a leader that cannot renew ends without draining and without touching the lease', async () => {
    await using scene = await stage();
    const { clock, client, common, cluster } = scene;
    await client.create(configMap('a'));
    let begun = false;
    let reason: unknown;
    const working = counting([], {
      reconcile: ({ signal }) => {
        begun = true;
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            reject(signal.reason);
          }),
        );
      },
    });
    const manager = await startManager({ ...common, controllers: [working], leaderElection: { identity: 'me' } });
    await clock.runUntil(() => begun);
    const ended = manager.stopped.catch((error: unknown) => error);
    const restore = cluster.intercept((request, phase) =>
      phase === 'before' && request.resource?.plural === 'leases' ? 'drop' : undefined,
    );
    await clock.advance(12_500);
    expect(await ended).toBeInstanceOf(LeadershipLostError);
    restore();
    expect(reason).toBeInstanceOf(LeadershipLostError);
    expect((await client.get(Lease, lease))?.spec?.holderIdentity).toBe('me');
    await manager.stop();
  });

  test('a lease that somebody took is lost at once', async () => {
    await using scene = await stage();
    const { clock, client, common } = scene;
    const manager = await startManager({ ...common, controllers: [counting([])], leaderElection: { identity: 'me' } });
    await clock.advance(10);
    await manager.elected;
    const ended = manager.stopped.catch((error: unknown) => error);
    await client.patch(Lease, lease, { type: 'merge', body: { spec: { holderIdentity: 'thief' } } });
    await clock.advance(2100);
    expect(await ended).toMatchObject({ message: expect.stringContaining('it belongs to thief now') });
  });

  test('timings that cannot work are refused', async () => {
    await using scene = await stage();
    const leaderElection = { leaseDurationMs: 10_000, renewDeadlineMs: 10_000 };
    await expect(startManager({ ...scene.common, controllers: [counting([])], leaderElection })).rejects.toThrow(
      'leaseDurationMs (10000) must be above renewDeadlineMs (10000)',
    );
  });
});
