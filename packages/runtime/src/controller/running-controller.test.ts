import { type Cluster as TestCluster, startCluster } from '@slipway/apiserver';
import {
  ConfigMap,
  createClient,
  Event,
  KubeError,
  objectPath,
  parseDuration,
  parseLabelSelector,
  parseQuantity,
  Secret,
  type Stream,
  type StreamHandler,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '@slipway/kube';
import { VirtualClock } from '@slipway/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { memoryLogger } from '../log/logger.ts';
import { type Manager, type ManagerOptions, startManager } from '../manager/manager.ts';
import { controller, type ControllerOptions } from './controller.ts';
import { ChannelSource } from './event-source.ts';
import { generationChanged, hasLabels } from './predicates.ts';
import { requeue, requeueAfter, TerminalError } from './result.ts';

const namespace = 'default';
/** Clusters have ConfigMaps of their own; these are ours. */
const labels = { test: 'yes' };
const scope = { labelSelector: labels };

function configMap(name: string, more: Partial<ConfigMap['metadata']> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels, ...more } };
}

/** A network that can be cut off: nothing sent gets an answer, and what streams breaks. */
class BreakableTransport implements Transport {
  readonly #inner: Transport;
  readonly #handlers = new Set<StreamHandler>();
  #broken = false;
  #streamsBroken = false;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  break(): void {
    this.#broken = true;
    this.#streamsBroken = true;
    for (const handler of this.#handlers) handler.error(noAnswer());
    this.#handlers.clear();
  }

  mend(what: 'all' | 'requests' = 'all'): void {
    this.#broken = false;
    if (what === 'all') this.#streamsBroken = false;
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    if (this.#broken) throw noAnswer();
    return await this.#inner.send(request, signal);
  }

  open(request: TransportRequest, handler: StreamHandler): Stream {
    if (this.#streamsBroken) {
      queueMicrotask(() => handler.error(noAnswer()));
      return { abort: () => undefined };
    }
    this.#handlers.add(handler);
    return this.#inner.open(request, handler);
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }
}

/** A network that lets no request through whose address holds a certain word. */
class CuttingTransport implements Transport {
  readonly #inner: Transport;
  readonly #word: string;

  constructor(inner: Transport, word: string) {
    this.#inner = inner;
    this.#word = word;
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    if (request.path.includes(this.#word)) throw noAnswer();
    return await this.#inner.send(request, signal);
  }

  open(request: TransportRequest, handler: StreamHandler): Stream {
    return this.#inner.open(request, handler);
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }
}

/** As of a transport that knows nothing of Kubernetes. */
const noAnswer = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

test('a long backlog of reconciliations that wait for nothing lets the event loop turn', async () => {
  await using cluster = await startCluster({ controllers: 'none' });
  const client = createClient({ transport: cluster.transport, fieldManager: 'test' });
  const count = 12;
  for (let i = 0; i < count; i += 1) await client.create(configMap(`c${i}`));
  let runs = 0;
  let runsAtNextTurn = 0;
  const done = Promise.withResolvers<void>();
  await using _manager = await startManager({
    cluster: { transport: cluster.transport },
    log: memoryLogger(),
    controllers: [
      controller({
        name: 'busy',
        for: ConfigMap,
        scope,
        reconcile({ clock: time }) {
          if (runs === 0) setImmediate(() => void (runsAtNextTurn = runs));
          runs += 1;
          for (const end = time.now() + 3; time.now() < end;);
          if (runs === count) done.resolve();
        },
      }),
    ],
  });
  await done.promise;
  expect(runsAtNextTurn).toBeGreaterThan(0);
  expect(runsAtNextTurn).toBeLessThan(count);
});

describe('a running controller', () => {
  let clock: VirtualClock;
  let cluster: TestCluster;
  let client: ReturnType<typeof createClient>;
  let log: ReturnType<typeof memoryLogger>;
  let manager: Manager | undefined;

  beforeEach(async () => {
    clock = new VirtualClock();
    cluster = await startCluster({ clock });
    client = createClient({ transport: cluster.transport, fieldManager: 'test', clock });
    log = memoryLogger();
  });

  afterEach(async () => {
    const stopping = manager?.stop();
    await clock.advance(40_000);
    await stopping;
    manager = undefined;
    await cluster.stop();
  });

  async function run(
    options: Omit<ControllerOptions<typeof ConfigMap>, 'name' | 'for'>,
    more: Partial<ManagerOptions> = {},
  ): Promise<void> {
    manager = await startManager({
      cluster: { transport: cluster.transport },
      clock,
      log,
      controllers: [controller({ name: 'under-test', for: ConfigMap, scope, ...options })],
      ...more,
    });
    await clock.advance(1000);
    await manager.ready;
  }

  const metric = async (line: string): Promise<string | undefined> =>
    (await manager!.registry.metrics())
      .split('\n')
      .find((candidate) => candidate.startsWith(`${line} `))
      ?.slice(line.length + 1);

  const total = (result: string) =>
    metric(`controller_runtime_reconcile_total{controller="under-test",result="${result}"}`);

  test('a failure is tried again, soon first and then less often; success forgets it', async () => {
    await client.create(configMap('a'));
    const times: number[] = [];
    const failures: number[] = [];
    await run({
      async reconcile(context) {
        times.push(context.clock.now());
        failures.push(context.failures);
        if (times.length <= 4) throw new Error(`failure ${times.length}`);
      },
    });
    expect(times.slice(1).map((time, index) => time - times[index]!)).toEqual([5, 10, 20, 40]);
    expect(failures).toEqual([0, 1, 2, 3, 4]);
    expect(await total('error')).toBe('4');
    expect(await total('success')).toBe('1');
    expect(await metric('controller_runtime_reconcile_errors_total{controller="under-test"}')).toBe('4');
    expect(await metric('workqueue_retries_total{name="under-test",controller="under-test"}')).toBe('4');
    const errors = log.entries.filter(({ level }) => level === 'error');
    expect(errors).toHaveLength(4);
    expect(errors[0]!.fields).toMatchObject({ controller: 'under-test', kind: 'ConfigMap', namespace, name: 'a' });
    expect(new Set(errors.map(({ fields }) => fields['reconcileID'])).size).toBe(4);
  });

  test('a terminal error is not tried again until something changes', async () => {
    await client.create(configMap('a'));
    let runs = 0;
    await run({
      reconcile() {
        runs += 1;
        throw new TerminalError('the spec makes no sense');
      },
    });
    await clock.advance(3_600_000);
    expect(runs).toBe(1);
    expect(await metric('controller_runtime_terminal_reconcile_errors_total{controller="under-test"}')).toBe('1');
    await client.patch(ConfigMap, { namespace, name: 'a' }, { type: 'merge', body: { data: { x: '1' } } });
    await clock.advance(100);
    expect(runs).toBe(2);
  });

  test('something a user wrote wrong is a failure and no panic; the mistake of a programmer is one', async () => {
    await client.create(configMap('a'));
    const mistakes: (() => unknown)[] = [
      () => parseDuration('soon'),
      () => parseQuantity('much'),
      () => parseLabelSelector('a in b'),
      () => objectPath(ConfigMap, { namespace, name: '../secrets' }),
    ];
    let runs = 0;
    await run({
      reconcile() {
        runs += 1;
        mistakes.shift()?.();
      },
    });
    expect(runs).toBe(5);
    expect(await total('error')).toBe('4');
    const names = log.entries.flatMap(({ fields }) => (fields['error'] as Error | undefined)?.name ?? []);
    expect(names).toEqual(['InputError', 'InputError', 'InputError', 'InputError']);
    expect(await metric('controller_runtime_reconcile_panics_total{controller="under-test"}')).toBe('0');
    mistakes.push(() => (undefined as unknown as { no: unknown }).no);
    await client.patch(ConfigMap, { namespace, name: 'a' }, { type: 'merge', body: { data: { x: '1' } } });
    await clock.advance(100);
    expect(await metric('controller_runtime_reconcile_panics_total{controller="under-test"}')).toBe('1');
  });

  test('something thrown that is no error counts as a panic and is tried again', async () => {
    await client.create(configMap('a'));
    let runs = 0;
    await run({
      reconcile() {
        runs += 1;
        // eslint-disable-next-line no-throw-literal
        if (runs === 1) throw 'a string';
      },
    });
    expect(runs).toBe(2);
    expect(await metric('controller_runtime_reconcile_panics_total{controller="under-test"}')).toBe('1');
  });

  test('what failed because the server could not be reached is tried again soon after its return, as if for the first time', async () => {
    for (const name of ['a', 'faulty']) await client.create(configMap(name));
    const network = new BreakableTransport(cluster.transport);
    const runs: string[] = [];
    let isBack = false;
    await run(
      {
        async reconcile({ client: own }, { name }) {
          runs.push(name);
          if (name === 'faulty') throw new Error('a failure of its own');
          await own.get(Secret, { namespace, name });
          if (isBack && runs.length === 1) throw new Error('a first failure of its own');
          return requeueAfter(60_000);
        },
      },
      { cluster: { transport: network } },
    );
    network.break();
    // By now both wait for minutes.
    await clock.advance(450_000);
    expect(runs.filter((name) => name === 'a').length).toBeGreaterThan(10);
    network.mend();
    isBack = true;
    runs.length = 0;
    // An informer is the first to notice, after half a minute at most.
    await clock.advance(35_000);
    expect(runs).toEqual(['a', 'a']);
  });

  test.each([
    ['while others are answered', ['a', 'b', 'healthy']],
    ['while nobody else asks', ['a']],
  ])('a request that never gets an answer backs off %s', async (_while, names) => {
    for (const name of names) await client.create(configMap(name));
    let cutOff = 0;
    await run(
      {
        async reconcile({ client: own }, { name }) {
          await own.get(Secret, { namespace, name });
          if (name === 'healthy') return requeueAfter(2000);
          cutOff += 1;
          await own.get(Secret, { namespace, name: 'cut-off' });
          return undefined;
        },
      },
      { cluster: { transport: new CuttingTransport(cluster.transport, 'cut-off') } },
    );
    await clock.advance(600_000);
    // The tries of a back-off from 5 ms to ten minutes, for each.
    expect(cutOff).toBeLessThanOrEqual(18 * names.filter((name) => name !== 'healthy').length);
  });

  test('a run that finds the server back, and then fails, is tried again as after a first failure', async () => {
    await client.create(configMap('a'));
    const network = new BreakableTransport(cluster.transport);
    const foundBack: number[] = [];
    let isBack = false;
    await run(
      {
        async reconcile({ client: own, clock: time }, { name }) {
          await own.get(Secret, { namespace, name });
          if (!isBack) return requeueAfter(60_000);
          foundBack.push(time.now());
          if (foundBack.length === 1) throw new Error('a failure of its own');
        },
      },
      { cluster: { transport: network } },
    );
    network.break();
    await clock.advance(450_000);
    isBack = true;
    network.mend('requests');
    await clock.advance(600_000);
    expect(foundBack).toHaveLength(2);
    expect(foundBack[1]! - foundBack[0]!).toBe(5);
  });

  test('a conflict is a normal case: tried again without an error line', async () => {
    await client.create(configMap('a'));
    let runs = 0;
    await run({
      reconcile() {
        runs += 1;
        if (runs === 1) throw new KubeError('changed', { code: 409, reason: 'Conflict' });
      },
    });
    expect(runs).toBe(2);
    expect(log.entries.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('requeue backs off, requeueAfter does not', async () => {
    await client.create(configMap('a'));
    const times: number[] = [];
    await run({
      async reconcile(context) {
        times.push(context.clock.now());
        if (times.length <= 2) return requeue();
        return times.length <= 4 ? requeueAfter(50) : undefined;
      },
    });
    expect(times.slice(1).map((time, index) => time - times[index]!)).toEqual([5, 10, 50, 50]);
    expect([await total('requeue'), await total('requeue_after'), await total('success')]).toEqual(['2', '2', '1']);
  });

  test('a reconciliation over its time limit is aborted, counted and tried again', async () => {
    await client.create(configMap('a'));
    let runs = 0;
    await run({
      reconcileTimeoutMs: 100,
      reconcile({ signal }) {
        runs += 1;
        if (runs > 1) return undefined;
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('gave up'))));
      },
    });
    expect(runs).toBe(2);
    expect(await metric('controller_runtime_reconcile_timeouts_total{controller="under-test"}')).toBe('1');
    const [error] = log.entries.filter(({ level }) => level === 'error');
    expect((error!.fields['error'] as Error).message).toBe('the reconciliation took longer than its limit of 100 ms');
  });

  test('different keys run at a time up to the concurrency, one key never twice', async () => {
    for (const name of ['a', 'b', 'c']) await client.create(configMap(name));
    const running = new Set<string>();
    let most = 0;
    await run({
      concurrency: 2,
      async reconcile(context, key) {
        expect(running.has(key.name)).toBe(false);
        running.add(key.name);
        most = Math.max(most, running.size);
        await new Promise<void>((resolve) => context.clock.schedule(10, resolve));
        running.delete(key.name);
      },
    });
    expect(most).toBe(2);
    expect(await total('success')).toBe('3');
  });

  test('changes of owned objects reconcile their owner', async () => {
    const owner = await client.create(configMap('owner'));
    const reconciled: string[] = [];
    await run({
      owns: [Secret],
      predicates: [hasLabels({ none: 'none' })],
      reconcile: (_context, key) => void reconciled.push(key.name),
    });
    expect(reconciled).toEqual([]);
    await client.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'owned', namespace } }, { owner });
    await client.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'other', namespace } });
    await clock.advance(100);
    expect(reconciled).toEqual(['owner']);
    await client.delete(Secret, { namespace, name: 'owned' });
    await clock.advance(100);
    expect(reconciled).toEqual(['owner', 'owner']);
  });

  test('watches map changes to keys; a mapping that fails is logged and does not stop the others', async () => {
    const reconciled: string[] = [];
    manager = await startManager({
      cluster: { transport: cluster.transport },
      clock,
      log,
      controllers: [
        controller({
          name: 'mapped',
          for: ConfigMap,
          predicates: [hasLabels({ none: 'none' })],
          watches: [
            {
              kind: Secret,
              map(event) {
                if (event.meta.name === 'bad') throw new Error('cannot map');
                return [{ namespace: event.key.namespace, name: `for-${event.key.name}` }];
              },
            },
          ],
          reconcile: (_context, key) => void reconciled.push(key.name),
        }),
      ],
    });
    await clock.advance(1000);
    for (const name of ['bad', 'good']) {
      await client.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } });
    }
    await clock.advance(100);
    expect(reconciled).toEqual(['for-good']);
    expect(log.entries.find(({ level }) => level === 'error')?.fields).toMatchObject({ kind: 'Secret.v1' });
  });

  test('predicates keep changes away', async () => {
    let runs = 0;
    await run({ predicates: [generationChanged], reconcile: () => void (runs += 1) });
    await client.create(configMap('a'));
    await clock.advance(100);
    // ConfigMaps have no generation: no update counts.
    await client.patch(ConfigMap, { namespace, name: 'a' }, { type: 'merge', body: { data: { x: '1' } } });
    await clock.advance(100);
    expect(runs).toBe(1);
  });

  test('custom sources reconcile the keys they name', async () => {
    const channel = new ChannelSource();
    const reconciled: string[] = [];
    await run({
      sources: [channel],
      predicates: [hasLabels({ none: 'none' })],
      reconcile: (_context, key) => void reconciled.push(key.name),
    });
    channel.push({ namespace, name: 'pushed' });
    await clock.advance(10);
    expect(reconciled).toEqual(['pushed']);
  });

  test('every object is reconciled again at resync', async () => {
    await client.create(configMap('a'));
    let runs = 0;
    await run({ resyncMs: 3_600_000, reconcile: () => void (runs += 1) });
    expect(runs).toBe(1);
    await clock.advance(3_600_000 * 1.1);
    expect(runs).toBe(2);
  });

  test('finalize: the finalizer is there before reconcile runs, and goes when the clean-up is done', async () => {
    await client.create(configMap('a'));
    const steps: string[] = [];
    await run({
      finalize: {
        finalizer: 'example.com/under-test',
        async run(_context, object) {
          steps.push(`clean ${object.metadata.name}`);
          return steps.length < 3 ? requeueAfter(1000) : undefined;
        },
      },
      async reconcile({ cache }, key) {
        const object = await cache.get(ConfigMap, key);
        steps.push(object ? `reconcile ${object.metadata.finalizers?.join()}` : 'gone');
      },
    });
    expect(steps[0]).toBe('reconcile example.com/under-test');
    steps.length = 1;
    await client.delete(ConfigMap, { namespace, name: 'a' });
    await clock.advance(5000);
    expect(steps).toEqual(['reconcile example.com/under-test', 'clean a', 'clean a', 'gone']);
    expect(await client.get(ConfigMap, { namespace, name: 'a' })).toBeUndefined();
  });

  test('events of a reconciler are written with it as reporter, repetitions as a series', async () => {
    await client.create(configMap('a'));
    let runs = 0;
    await run({
      async reconcile({ cache, events }, key) {
        const object = await cache.get(ConfigMap, key);
        events.warning(object!, 'NotYet', 'still waiting');
        runs += 1;
        return runs < 3 ? requeueAfter(100) : undefined;
      },
    });
    await clock.advance(10_000);
    const events = await Array.fromAsync(client.list(Event, { namespace }));
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      type: 'Warning',
      reason: 'NotYet',
      note: 'still waiting',
      action: 'Reconcile',
      reportingController: 'under-test',
      regarding: { kind: 'ConfigMap', name: 'a', namespace },
      series: { count: 3 },
    });
  });

  test('initial objects wait behind fresh changes', async () => {
    for (let index = 0; index < 5; index += 1) await client.create(configMap(`old-${index}`));
    const order: string[] = [];
    const channel = new ChannelSource();
    channel.push({ namespace, name: 'fresh' });
    await run({ sources: [channel], reconcile: (_context, key) => void order.push(key.name) });
    expect(order[0]).toBe('fresh');
    expect(order).toHaveLength(6);
  });
});

describe('controller()', () => {
  const minimal = { name: 'x', for: ConfigMap, reconcile: () => undefined };
  test.each([
    [{ name: 'Not Good' }, "controller 'Not Good': a name has lower-case letters"],
    [{ concurrency: 0 }, "controller 'x': concurrency must be a whole number above 0, not 0"],
    [{ reconcileTimeoutMs: 0 }, "controller 'x': reconcileTimeoutMs must be above 0, not 0"],
    [{ resyncMs: -1 }, "controller 'x': resyncMs must be 0 or more, not -1"],
  ])('%j is refused', (change, message) => {
    expect(() => controller({ ...minimal, ...change })).toThrow(message);
  });

  test('requeueAfter refuses what is no delay', () => {
    expect(() => requeueAfter(Number.NaN)).toThrow('requeueAfter: NaN is no delay');
    expect(() => requeueAfter(-1)).toThrow(RangeError);
  });
});
