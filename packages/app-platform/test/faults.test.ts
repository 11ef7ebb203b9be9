import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Event, type Transport } from '@slipway/kube';
import { onReference, skipped, type TestManager } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { commitMessages } from '../src/git/commit-and-push.ts';
import { basicAuthorization } from '../src/git/credentials.ts';
import { GitError, type GitErrorCode } from '../src/git/git-error.ts';
import { runGit, type GitRunner } from '../src/git/git-process.ts';
import { names } from '../src/names.ts';
import { readConfigMap } from '../src/state/records.ts';
import { faultyProxy, type FaultyProxy, type GitFault } from './faulty-proxy.ts';
import { canary, credentials, writeFiles } from './git-kit.ts';
import { isApplied } from './life.ts';
import { places, platformWorld, type PlatformWorld } from './platform-kit.ts';

const limit = 120_000;
const full = process.env['SLIPWAY_SWEEP'] === 'full';
const faults: [fault: GitFault, code: GitErrorCode][] = [
  ['down', 'Unreachable'],
  [401, 'Unauthorized'],
  ['corrupt', 'Failed'],
];
if (full) faults.push(['silent', 'Unreachable'], [403, 'Unauthorized'], [500, 'Failed']);
skipped(!full, 'some faults of the Git and API servers: npm run test:sweep has them all');
const wholeReconciles = skipped(
  onReference || !full,
  'a Git server that is down for whole reconciles: pushes are tried for eight minutes, which needs virtual time (npm run test:sweep)',
);
const outages = skipped(
  onReference,
  'on the real API server: outages of it, after which a reconcile mends what failed minutes later (api-restart.test.ts restarts it)',
);

describe('a platform whose servers fail', () => {
  let world: PlatformWorld;
  let proxy: FaultyProxy;
  let running: TestManager;
  /** While this holds, the API server answers nothing. */
  let apiDown = false;
  /** Counts down with every write; at zero the API server is gone, not so long that the lease is lost with it. */
  let writesLeft = Number.POSITIVE_INFINITY;
  /** How often Git was asked where the branch is. */
  let asked = 0;
  const children: { readonly args: string; readonly environment: string }[] = [];

  const spy = (message: unknown): void => {
    const { process: child } = message as { process: { pid?: number } };
    setImmediate(() => {
      try {
        const read = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'utf8').replaceAll('\0', ' ');
        children.push({ args: read('cmdline'), environment: read('environ') });
      } catch {
        // It is over already.
      }
    });
  };

  const git: GitRunner = async (args, options) => {
    if (args[0] === 'ls-remote') asked += 1;
    return await runGit(args, options);
  };
  const goAway = (): void => {
    apiDown = true;
    world.cluster.clock.schedule(4_000, () => (apiDown = false));
  };
  const failing = (inner: Transport): Transport => ({
    async send(request, signal) {
      if (request.method !== 'GET' && !request.path.includes('/leases')) {
        writesLeft -= 1;
        if (writesLeft === 0) goAway();
      }
      if (apiDown) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      return await inner.send(request, signal);
    },
    open: (request, handler) => inner.open(request, handler),
    close: () => inner.close(),
  });

  beforeAll(async () => {
    subscribe('child_process', spy);
    // On the real API server time is the machine's, which may be busy.
    world = await platformWorld({ env: { GIT_OP_TIMEOUT_MS: onReference ? '30000' : '4000' } });
    proxy = await faultyProxy(world.git.server.url);
    const settings = { ...world.settings, repoUrl: proxy.url };
    running = await world.cluster.run([world.controller({ settings, git })], {
      cluster: { transport: failing(world.cluster.transport()) },
    });
    await world.applied();
  }, limit);
  afterAll(async () => {
    unsubscribe('child_process', spy);
    await world[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });

  let replicas = 1;
  const change = async (): Promise<string> => {
    replicas += 1;
    const text = `kind: AplApp\nmetadata:\n    name: console\n    labels: {}\nspec:\n    enabled: true\n    replicas: ${(replicas % 9) + 1}\n`;
    return await world.git.push({ 'env/apps/console.yaml': text }, 'a change');
  };

  test.each(faults)(
    'Git server %s: polls fail and say so, the cluster stays, and the change is applied when it is back',
    { timeout: limit },
    async (fault, code) => {
      const before = await readConfigMap(world.cluster.client, places.apply);
      const logged = running.logs.length;
      proxy.fault = fault;
      const commit = await change();
      // A poll that was under way when the fault began may have lost its connection instead.
      await world.cluster.eventually(`a poll has failed as ${code}`, () =>
        running.logs
          .slice(logged)
          .filter(({ message }) => message === 'Error during git polling cycle')
          .some(({ fields }) => {
            const { cause } = (fields as { error: Error }).error;
            return cause instanceof GitError && cause.code === code;
          }),
      );
      expect((await readConfigMap(world.cluster.client, places.apply))['commitHash']).toBe(before['commitHash']);
      proxy.fault = undefined;
      expect(await world.applied(commit)).toMatchObject({ status: 'succeeded' });
    },
  );

  test.skipIf(!full && !onReference)(
    'Git server slow: the change is applied all the same',
    { timeout: limit },
    async () => {
      proxy.fault = 'slow';
      try {
        expect(await world.applied(await change())).toMatchObject({ status: 'succeeded' });
      } finally {
        proxy.fault = undefined;
      }
    },
  );

  test.skipIf(wholeReconciles)(
    'Git server down for a whole reconcile: 20 retries, then failed with the reason; when it is back, what was to be pushed is',
    { timeout: limit },
    async () => {
      const path = 'env/apps/extra.yaml';
      const applyState = () => readConfigMap(world.cluster.client, places.apply);
      proxy.fault = 'down';
      const before = asked;
      try {
        await writeFiles(world.settings.envDir, { [path]: 'kind: AplApp\nspec:\n    enabled: true\n' });
        const failed = await world.cluster.eventually('a reconcile has failed', async () => {
          const now = await applyState();
          return now['status'] === 'failed' ? now : undefined;
        });
        expect(failed).toMatchObject({ trigger: 'reconcile', errorMessage: expect.stringContaining('git ls-remote') });
        expect(asked - before).toBe(1 + 20);
      } finally {
        proxy.fault = undefined;
      }
      await world.cluster.eventually(
        'a reconcile is through',
        async () => (await applyState())['status'] === 'succeeded',
      );
      const reader = world.git.copy('reader');
      await reader.prepare();
      await reader.takeRemote();
      expect(readFileSync(join(reader.directory, path), 'utf8')).toContain('enabled: true');
      const { stdout } = await reader.git(['log', '-1', '--format=%s', '--', path]);
      expect(stdout.trim()).toBe(commitMessages.values);
    },
  );

  test.skipIf(wholeReconciles)(
    'Git server down for a whole reconcile that has nothing to push: what is known is applied, and what comes later when it is back',
    { timeout: limit },
    async () => {
      const before = await readConfigMap(world.cluster.client, places.apply);
      proxy.fault = 'down';
      try {
        const state = await world.cluster.eventually('a reconcile is through', async () => {
          const now = await readConfigMap(world.cluster.client, places.apply);
          return now['timestamp'] !== before['timestamp'] && now['status'] === 'succeeded' ? now : undefined;
        });
        expect(state).toMatchObject({ trigger: 'reconcile', commitHash: before['commitHash'] });
      } finally {
        proxy.fault = undefined;
      }
      expect(await world.applied(await change())).toMatchObject({ status: 'succeeded' });
    },
  );

  test.skipIf(outages).each(full ? [2, 4, 7] : [4])(
    'API server gone for 4 s at write %i of an apply: the platform ends applied',
    { timeout: limit },
    async (write) => {
      writesLeft = write;
      const commit = await change();
      await world.cluster.eventually('the commit, or one after it, is applied', async () => {
        const { status: deployed } = await readConfigMap(world.cluster.client, places.deployment);
        return writesLeft < 0 && !apiDown && deployed === 'deployed' && (await isApplied(world, commit));
      });
      writesLeft = Number.POSITIVE_INFINITY;
    },
  );

  test(
    'canary secrets are in no log, event, record, argument, git configuration or environment but that of calls to the server',
    { timeout: limit },
    async () => {
      const secrets = [canary, encodeURIComponent(canary), basicAuthorization(credentials).slice('Basic '.length)];
      const events: unknown[] = [];
      for await (const event of world.cluster.client.list(Event)) events.push(event);
      const records = await Promise.all(
        Object.values(places).map((place) => readConfigMap(world.cluster.client, place)),
      );
      const config = readFileSync(`${world.settings.envDir}/.git/config`, 'utf8');
      const said = [running.logs.map(({ message, fields }) => [message, errorTexts(fields)]), events, records, config];
      const args = children.map((child) => child.args);
      expect(args.length).toBeGreaterThan(50);
      for (const secret of secrets) {
        expect(JSON.stringify(said)).not.toContain(secret);
        expect(args.filter((text) => text.includes(secret))).toEqual([]);
        const knowing = children.filter(({ environment }) => environment.includes(secret)).map((child) => child.args);
        expect(knowing.filter((text) => !/git (.*-C \S+ )?(fetch|push|pull|ls-remote)\b/.test(text))).toEqual([]);
      }
      expect(await world.git.refusedPushes()).toBe('');
      expect(names.gitCredentials).toBe('gitea-credentials');
    },
  );
});

/** What a logger would write of the errors in its fields. */
function errorTexts(fields: unknown): string {
  return JSON.stringify(fields, (_key, value: unknown) =>
    value instanceof Error ? { message: value.message, stack: value.stack, cause: value.cause } : value,
  );
}
