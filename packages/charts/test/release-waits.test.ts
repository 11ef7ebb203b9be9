import {
  type Clock,
  ConfigMap,
  createClient,
  Deployment,
  Job,
  Pod,
  Service,
  type Timer,
  type TransportRequest,
} from '@slipway/kube';
import { onReference, skipped, testCluster, type TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { releaseContext } from '../src/command/release-flags.ts';
import {
  type Chart,
  installRelease,
  loadFiles,
  type ReleaseContext,
  ReleaseStorage,
  uninstallRelease,
  upgradeRelease,
} from '../src/index.ts';

const release = { name: 'shop', namespace: 'default' };
const at = (name: string) => ({ namespace: 'default', name });

async function chartOf(...documents: readonly string[]): Promise<Chart> {
  const files = {
    'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
    'templates/all.yaml': documents.join('---\n'),
  };
  return await loadFiles(Object.entries(files).map(([name, text]) => ({ name, data: Buffer.from(text) })));
}

const pod = 'template: {metadata: {labels: {a: b}}, spec: {restartPolicy: RESTART, containers: [{name: a, image: a}]}}';
const deployment = (name: string): string =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}}\nspec: {selector: {matchLabels: {a: b}}, ${pod.replace('RESTART', 'Always')}}\n`;
/** A Job that ends when `end` is called. */
const jobHook = (name: string, event: string): string =>
  `apiVersion: batch/v1\nkind: Job\nmetadata: {name: ${name}, annotations: {helm.sh/hook: "${event}"}}\nspec: {${pod.replace('RESTART', 'Never')}}\n`;

async function setStatus({ client }: TestCluster, kind: typeof Deployment | typeof Job, name: string, status: object) {
  await client.patch(kind, at(name), { type: 'merge', body: { status } }, { subresource: 'status' });
}

const complete = (type: string, reason?: string) => ({
  conditions: [{ type, status: 'True', ...(reason ? { reason } : {}) }],
});
const ready = {
  observedGeneration: 1,
  replicas: 1,
  updatedReplicas: 1,
  readyReplicas: 1,
  availableReplicas: 1,
  ...complete('Available'),
};

/** Work that goes on while a test looks at it. */
function begin<T>(cluster: TestCluster, work: Promise<T>) {
  let outcome: { value?: T; error?: { code: string; message: string; hint: string } } | undefined;
  work.then(
    (value) => (outcome = { value }),
    (error: { code: string; message: string; hint: string }) => (outcome = { error }),
  );
  return {
    end: async () => await cluster.eventually('it is done', () => outcome),
    isDone: () => outcome !== undefined,
  };
}

async function started(progress?: (line: string) => void) {
  const cluster = await testCluster({ controllers: 'core' });
  const stop = new AbortController();
  const { client, clock } = cluster;
  const context: ReleaseContext = {
    ...releaseContext(
      { clock, signal: stop.signal, err: (text: string) => progress?.(text) } as never,
      { client } as never,
    ),
  };
  return { cluster, context, stop };
}

async function statuses({ client }: TestCluster): Promise<string[]> {
  const stored = await new ReleaseStorage(client, () => 0).history('default', 'shop');
  return stored.map(({ release: { revision, status, description } }) => `${revision} ${status}: ${description}`);
}

describe.skipIf(skipped(onReference, 'waits for releases that take minutes: needs virtual time'))('waits', () => {
  test('each hook, and the wait for the objects, may take as long as --timeout says', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await chartOf(jobHook('first', 'pre-install'), jobHook('second', 'pre-install'), deployment('web'));
    const work = begin(cluster, installRelease(context, chart, { ...release, wait: true, timeoutMs: 60_000 }));
    for (const name of ['first', 'second']) {
      await cluster.eventually('it is made', async () => await cluster.client.get(Job, at(name)));
      await cluster.advance(50_000);
      await setStatus(cluster, Job, name, complete('Complete'));
    }
    await cluster.eventually('it is made', async () => await cluster.client.get(Deployment, at('web')));
    await cluster.advance(50_000);
    await setStatus(cluster, Deployment, 'web', ready);
    expect((await work.end()).value?.status).toBe('deployed');
  });

  test.each([
    ['completed', complete('Complete'), undefined],
    ['failed', { conditions: [{ type: 'Failed', status: 'True', message: 'too often' }] }, 'failed: too often'],
    ['is at work', {}, 'was deleted before it ended'],
  ] as const)(
    'a Job of a hook that %s and is deleted between two looks has its outcome',
    async (_, status, failure) => {
      const { cluster, context } = await started();
      await using _cluster = cluster;
      const work = begin(cluster, installRelease(context, await chartOf(jobHook('gone', 'pre-install')), release));
      await cluster.eventually('it is made', async () => await cluster.client.get(Job, at('gone')));
      await setStatus(cluster, Job, 'gone', status);
      await cluster.client.delete(Job, at('gone'), { propagationPolicy: 'Background' });
      await cluster.advance(10_000);
      expect(work.isDone()).toBe(true);
      const { value, error } = await work.end();
      if (failure === undefined) expect(value?.status).toBe('deployed');
      else expect(error?.message).toBe(`a hook failed: Job default/gone ${failure}`);
    },
  );

  test('one that fails for good ends the wait at once, also behind others', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await chartOf(deployment('a'), deployment('b'));
    const work = begin(cluster, installRelease(context, chart, { ...release, wait: true }));
    await cluster.eventually('it is made', async () => await cluster.client.get(Deployment, at('b')));
    const conditions = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
    await setStatus(cluster, Deployment, 'b', { observedGeneration: 1, conditions });
    await cluster.advance(2_000);
    expect(work.isDone()).toBe(true);
    expect((await work.end()).error?.message).toContain('Deployment default/b: ');
  });

  const job = jobHook('once', 'x').replace(/, annotations: .*?}/, '');
  const running = { startTime: '2026-01-01T00:00:00Z', active: 1 };
  const suspended = { conditions: [{ type: 'Suspended', status: 'True' }] };
  const balancer =
    'apiVersion: v1\nkind: Service\nmetadata: {name: once}\nspec: {type: LoadBalancer, ports: [{port: 80}]}\n';
  const onePod = `apiVersion: v1\nkind: Pod\nmetadata: {name: once}\nspec: {containers: [{name: a, image: a}]}\n`;

  test.each([
    ['a Service without an address', balancer, Service, {}, {}, true],
    ['a Pod that ended badly', onePod, Pod, { phase: 'Failed' }, {}, true],
    ['a Pod that runs, not ready', onePod, Pod, { phase: 'Running' }, {}, false],
    ['a Job that runs', job, Job, running, {}, true],
    ['a Job that runs, with --wait-for-jobs', job, Job, running, { waitForJobs: true }, false],
    ['a Job that is suspended', job.replace('spec: {', 'spec: {suspend: true, '), Job, suspended, {}, true],
    [
      'a Job that is suspended, with --wait-for-jobs',
      job.replace('spec: {', 'spec: {suspend: true, '),
      Job,
      suspended,
      { waitForJobs: true },
      false,
    ],
  ] as const)('%s is as ready as it is to Helm', async (_, template, kind, status, options, isReady) => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await chartOf(template);
    await begin(cluster, installRelease(context, chart, release)).end();
    await cluster.client.patch(kind, at('once'), { type: 'merge', body: { status } }, { subresource: 'status' });
    const wait = { ...release, wait: true, timeoutMs: 3_000, ...options };
    const { value, error } = await begin(cluster, upgradeRelease(context, chart, wait)).end();
    expect(value?.status ?? error?.code).toBe(isReady ? 'deployed' : 'TimedOut');
  });

  test('all that are not ready in time are named', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await chartOf(deployment('a'), deployment('b'), deployment('c'));
    const work = begin(cluster, installRelease(context, chart, { ...release, wait: true, timeoutMs: 10_000 }));
    await cluster.eventually('it is made', async () => await cluster.client.get(Deployment, at('c')));
    await setStatus(cluster, Deployment, 'a', ready);
    const { error } = await work.end();
    expect(error?.code).toBe('TimedOut');
    expect(error?.message).toMatch(/^Deployment default\/b: .*; Deployment default\/c: /);
  });

  test('a server that is away for a moment ends no wait', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    let isAway = false;
    let misses = 0;
    const inner = cluster.transport();
    const client = createClient({
      transport: {
        send: async (request: TransportRequest, signal) => {
          if (isAway && request.path.includes('/deployments/')) {
            misses += 1;
            throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
          }
          return await inner.send(request, signal);
        },
        open: (request, handler) => inner.open(request, handler),
        close: async () => await inner.close(),
      },
      fieldManager: 'helm',
      clock: cluster.clock,
    });
    const chart = await chartOf(deployment('web'));
    const work = begin(cluster, installRelease({ ...context, client }, chart, { ...release, wait: true }));
    await cluster.eventually('it is made', async () => await cluster.client.get(Deployment, at('web')));
    await cluster.advance(5_000);
    isAway = true;
    await cluster.advance(30_000);
    isAway = false;
    expect(misses).toBeGreaterThan(10);
    await setStatus(cluster, Deployment, 'web', ready);
    expect((await work.end()).value?.status).toBe('deployed');
  });

  test('whoever interrupts an upgrade that waits finds it marked as failed, and why', async () => {
    const lines: string[] = [];
    const { cluster, context, stop } = await started((line) => lines.push(line));
    await using _cluster = cluster;
    const chart = await chartOf(deployment('web'));
    await begin(cluster, installRelease(context, chart, release)).end();
    const work = begin(cluster, upgradeRelease(context, chart, { ...release, wait: true }));
    await cluster.eventually('it waits', () => lines.some((line) => line.includes('waiting   ')));
    stop.abort();
    const { error } = await work.end();
    expect(error?.code).toBe('Interrupted');
    expect(error?.message).toMatch(/^interrupted while waiting for Deployment default\/web: /);
    expect(lines.at(-1)).toBe('interrupted: shop is marked as failed\n');
    expect(await statuses(cluster)).toEqual([
      '1 deployed: Install complete',
      expect.stringMatching(/^2 failed: Upgrade "shop" failed: interrupted while waiting/),
    ]);
  });

  test('whoever interrupts it in a hook, too', async () => {
    const { cluster, context, stop } = await started();
    await using _cluster = cluster;
    const work = begin(cluster, installRelease(context, await chartOf(jobHook('idle', 'pre-install')), release));
    await cluster.eventually('it is made', async () => await cluster.client.get(Job, at('idle')));
    stop.abort();
    expect((await work.end()).error?.message).toContain('interrupted while waiting for Job default/idle');
    expect(await statuses(cluster)).toEqual([expect.stringContaining('1 failed: ')]);
  });

  test('whoever interrupts the end of a release hears that it has to be ended again, which then goes on', async () => {
    const lines: string[] = [];
    const { cluster, context, stop } = await started((line) => lines.push(line));
    await using _cluster = cluster;
    const chart = await chartOf(
      jobHook('idle', 'pre-delete'),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
    );
    await begin(cluster, installRelease(context, chart, release)).end();
    const work = begin(cluster, uninstallRelease(context, release));
    await cluster.eventually('it is made', async () => await cluster.client.get(Job, at('idle')));
    stop.abort();
    expect((await work.end()).error?.message).toContain('interrupted while waiting for Job default/idle');
    expect(lines.at(-1)).toBe('interrupted: some of shop may be gone; uninstall it again\n');
    const again = { ...context, signal: undefined };
    await begin(cluster, uninstallRelease(again, { ...release, skipHooks: true })).end();
    expect(await statuses(cluster)).toEqual([]);
  });

  test.each(['install', 'upgrade'] as const)(
    '%s that is to be undone when it fails is undone when it is interrupted',
    async (what) => {
      const { cluster, context, stop } = await started();
      await using _cluster = cluster;
      const quick = await chartOf(
        jobHook('undone', 'pre-delete,post-rollback'),
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
      );
      const chart = await chartOf(jobHook('undone', 'pre-delete,post-rollback'), deployment('web'));
      if (what === 'upgrade') await begin(cluster, installRelease(context, quick, release)).end();
      const options = { ...release, rollbackOnFailure: true };
      const work = begin(
        cluster,
        what === 'install' ? installRelease(context, chart, options) : upgradeRelease(context, chart, options),
      );
      await cluster.eventually('it is made', async () => await cluster.client.get(Deployment, at('web')));
      stop.abort();
      await cluster.eventually('it is undone', async () => await cluster.client.get(Job, at('undone')));
      await setStatus(cluster, Job, 'undone', complete('Complete'));
      expect((await work.end()).error?.message).toContain(
        what === 'install' ? 'has been uninstalled' : 'rolled back to revision 1',
      );
      expect(await cluster.client.get(Deployment, at('web'))).toBeUndefined();
      expect((await statuses(cluster)).at(-1)).toBe(what === 'install' ? undefined : '3 deployed: Rollback to 1');
    },
  );

  test.each(['install', 'upgrade'] as const)('%s that fails and cannot be undone says both', async (what) => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const undoing = what === 'install' ? 'pre-delete' : 'pre-rollback';
    const chart = async (...more: string[]): Promise<Chart> =>
      await chartOf(jobHook('idle', undoing), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n', ...more);
    const broken = await chart('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not A Name}\n');
    const options = { ...release, rollbackOnFailure: true, timeoutMs: 10_000 };
    if (what === 'upgrade') await begin(cluster, installRelease(context, await chart(), options)).end();
    const work = what === 'install' ? installRelease : upgradeRelease;
    const { error } = await begin(cluster, work(context, broken, options)).end();
    expect(error?.message).toMatch(
      /ConfigMap default\/Not A Name: .*; and it could not be .*: a hook failed: Job default\/idle: it has not completed/,
    );
  });

  test('an installation that is undone waits until its objects are gone', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const lingering = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, finalizers: [example.com/stays]}\n';
    const chart = await chartOf(lingering, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not A Name}\n');
    const work = begin(cluster, installRelease(context, chart, { ...release, rollbackOnFailure: true }));
    const isGoing = async () => (await cluster.client.get(ConfigMap, at('a')))?.metadata.deletionTimestamp;
    await cluster.eventually('it is going', isGoing);
    await cluster.advance(20_000);
    expect(work.isDone()).toBe(false);
    await cluster.client.patch(ConfigMap, at('a'), { type: 'merge', body: { metadata: { finalizers: null } } });
    expect((await work.end()).error?.message).toContain('has been uninstalled');
  });

  test('a script that waits does not end meanwhile', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const unheld = new Set<Timer>();
    const clock: Clock = {
      now: () => context.clock.now(),
      monotonic: () => context.clock.monotonic(),
      schedule(delayMs, callback) {
        const inner = context.clock.schedule(delayMs, callback);
        const timer: Timer = { cancel: () => inner.cancel(), hold: () => void unheld.delete(timer) };
        // Signs of life are sent beside the work.
        if (delayMs < 15_000) unheld.add(timer);
        return timer;
      },
    };
    const options = { ...release, wait: true, timeoutMs: 5_000 };
    const work = begin(cluster, installRelease({ ...context, clock }, await chartOf(deployment('web')), options));
    expect((await work.end()).error).toMatchObject({ code: 'TimedOut' });
    expect(unheld.size).toBe(0);
  });

  test('a person sees what is waited for, that it goes on, and nothing of what was never there', async () => {
    let shown = '';
    const { cluster, context } = await started((line) => (shown += line));
    await using _cluster = cluster;
    const chart = await chartOf(jobHook('work', 'pre-install'), deployment('a'), deployment('b'));
    const work = begin(cluster, installRelease(context, chart, { ...release, wait: true }));
    await cluster.eventually('it is made', async () => await cluster.client.get(Job, at('work')));
    await cluster.advance(90_000);
    await setStatus(cluster, Job, 'work', complete('Complete'));
    await cluster.eventually('it is made', async () => await cluster.client.get(Deployment, at('b')));
    await cluster.advance(2_000);
    await setStatus(cluster, Deployment, 'a', ready);
    await cluster.advance(2_000);
    await setStatus(cluster, Deployment, 'b', ready);
    await work.end();
    expect(shown.replaceAll(/: .*?(?=, and|\n| \()/g, ': …')).toBe(
      [
        'pre-install hooks',
        '  hook      Job default/work',
        '  waiting   Job default/work: …',
        '  waiting   Job default/work: … (30s)',
        '  waiting   Job default/work: … (1m0s)',
        '  waiting   Job default/work: … (1m30s)',
        'installing shop',
        '  applied   Deployment default/a',
        '  applied   Deployment default/b',
        'waiting for the objects to be ready',
        '  waiting   Deployment default/a: …, and 1 more',
        '  ready     Deployment default/a',
        '  waiting   Deployment default/b: …',
        '  ready     Deployment default/b',
        '',
      ].join('\n'),
    );
  });
});
