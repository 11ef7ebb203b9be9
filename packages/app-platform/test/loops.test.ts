import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { sleep, type Clock } from '@slipway/kube';
import { onReference, skipped, type TestManager } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { AppPlatformOptions } from '../src/controller.ts';
import { remoteHeads, type GitRemote, type RemoteHeads } from '../src/git/remote-head.ts';
import { names } from '../src/names.ts';
import type { Helmfile } from '../src/platform/helmfile.ts';
import { nativeHelmfile } from '../src/platform/native-helmfile.ts';
import { platformWorld, referencePlatform, type PlatformWorld } from './platform-kit.ts';

const limit = 300_000;
const [pollMs, reconcileMs] = [30_000, 300_000];
const embeddedOnly = skipped(onReference, 'on the real API server: the loops of a platform, which need virtual time');

/** An apply as its records tell it, at (virtual) times. */
interface Apply {
  readonly trigger: string;
  readonly begunAt: number;
  endedAt?: number;
  status?: string;
  error?: string;
}

/** The seed's table "Apply Trigger Comparison", row by row, with the intervals of its columns. */
describe.skipIf(embeddedOnly)('Apply trigger comparison', () => {
  let world: PlatformWorld;
  let running: TestManager;
  let clock: Clock;
  const applies: Apply[] = [];
  const asked: number[] = [];
  /** How often Git had been asked when a connection to it was closed. */
  const closedAt: number[] = [];
  const selections: string[] = [];
  /** How long the essential manifests take to apply, and whether they fail. */
  let slowMs = 0;
  let failing = false;
  let unreachable = false;

  const helmfile = (...[{ client, clock: time }, layers]: Parameters<AppPlatformOptions['helmfile']>): Helmfile => {
    const real = nativeHelmfile({ root: referencePlatform, layers, client, clock: time });
    return {
      ...real,
      async list(selection) {
        selections.push(selection?.selectors?.join() ?? 'all');
        if (failing) throw new Error('told to fail');
        return await real.list(selection);
      },
      async template(selection) {
        if (slowMs > 0) await sleep(time, slowMs);
        return await real.template(selection);
      },
    };
  };
  const heads = (remote: GitRemote): RemoteHeads => {
    const real = remoteHeads(remote);
    return {
      async read(signal) {
        asked.push(clock.now());
        if (unreachable) throw new Error('the Git server is down');
        return await real.read(signal);
      },
      async [Symbol.asyncDispose]() {
        closedAt.push(asked.length);
        await real[Symbol.asyncDispose]();
      },
    };
  };

  beforeAll(async () => {
    world = await platformWorld();
    ({ clock } = world.cluster);
    world.cluster.embedded?.observe(({ object }) => {
      if (object.metadata.name !== names.operatorState) return;
      const { status, trigger = '', errorMessage } = (object as { data?: Record<string, string> }).data ?? {};
      const at = clock.now();
      if (status === 'in-progress') applies.push({ trigger, begunAt: at });
      else Object.assign(applies.at(-1)!, { endedAt: at, status, ...(errorMessage ? { error: errorMessage } : {}) });
    });
    running = await world.cluster.run([world.controller({ helmfile, heads })]);
    await world.applied();
  }, limit);
  afterAll(async () => await world[Symbol.asyncDispose]());

  const since = (count: number): Apply[] => applies.slice(count);
  /** To a quiet moment right after an apply of the reconcile loop. */
  const afterReconcile = async (): Promise<void> => {
    const before = applies.length;
    await world.cluster.eventually('a reconcile is through', () =>
      since(before).some(({ trigger, endedAt }) => trigger === 'reconcile' && endedAt !== undefined),
    );
  };
  const replicas = (count: number) => ({
    'env/apps/console.yaml': `kind: AplApp\nspec:\n    enabled: true\n    replicas: ${count}\n`,
  });

  test(
    'Frequency: Poll every 30 s, Reconcile every 5 minutes, each pause from the end of the work',
    { timeout: limit },
    async () => {
      await afterReconcile();
      const [before, polls] = [applies.length, asked.length];
      await world.cluster.advance(2 * reconcileMs);
      expect(since(before).map(({ trigger }) => trigger)).toEqual(['reconcile', 'reconcile']);
      expect(asked.length - polls).toBe((2 * reconcileMs) / pollMs);
    },
  );

  test(
    'Condition, Poll: without Git changes nothing is applied, and an idle poll starts no process',
    { timeout: limit },
    async () => {
      await afterReconcile();
      const [before, polls] = [applies.length, asked.length];
      const forks: string[] = [];
      let served = 0;
      const note = (message: unknown): void => {
        const { process: child } = message as { process: { spawnargs?: readonly string[] } };
        // The server of this test is in this process; a real one is not.
        setImmediate(() => {
          if (child.spawnargs?.[1] === 'http-backend') served += 1;
          else forks.push(String(child.spawnargs));
        });
      };
      subscribe('child_process', note);
      await world.cluster.advance(8 * pollMs);
      unsubscribe('child_process', note);
      expect(asked.length - polls).toBe(8);
      expect(applies.length).toBe(before);
      expect(served).toBe(8);
      expect(forks).toEqual([]);
    },
  );

  test(
    'Condition, Poll: Git changes detected; Apply Type: teams only by changed files',
    { timeout: limit },
    async () => {
      await afterReconcile();
      const [before, asks] = [applies.length, selections.length];
      await world.git.push({ 'env/teams/green/settings.yaml': 'kind: AplTeamSettingSet\nspec: {}\n' }, 'a team');
      await world.cluster.advance(pollMs);
      expect(since(before)).toMatchObject([{ trigger: 'poll', status: 'succeeded' }]);
      expect(selections.slice(asks)).toEqual(['pipeline=otomi-task-teams']);
    },
  );

  test(
    'Apply Type: other files changed, Poll applies everything; Reconcile always everything',
    { timeout: limit },
    async () => {
      await afterReconcile();
      const [before, asks] = [applies.length, selections.length];
      await world.git.push(replicas(2), 'more');
      await world.cluster.advance(pollMs);
      expect(since(before)).toMatchObject([{ trigger: 'poll', status: 'succeeded' }]);
      await afterReconcile();
      expect(selections.slice(asks)).toEqual(['all', 'all']);
    },
  );

  test(
    'Skip Logic: Poll ignores [ci skip]; Reconcile has none and applies what Poll took over',
    { timeout: limit },
    async () => {
      await afterReconcile();
      const before = applies.length;
      await world.git.push(replicas(5), 'more [ci skip]');
      await world.cluster.advance(3 * pollMs);
      expect(since(before)).toEqual([]);
      await afterReconcile();
      expect(since(before)).toMatchObject([{ trigger: 'reconcile', status: 'succeeded' }]);
    },
  );

  test(
    'Concurrency, Poll: skips its round while an apply is running, and finds the change afterwards',
    { timeout: limit },
    async () => {
      await afterReconcile();
      slowMs = 4 * pollMs;
      const before = applies.length;
      await world.cluster.eventually('a reconcile has begun', () => applies.length > before);
      const polls = asked.length;
      await world.git.push(replicas(6), 'while it runs');
      await world.cluster.advance(3 * pollMs);
      expect(asked.length).toBe(polls);
      expect(running.logs.some(({ message }) => message === '[poll] Apply already in progress, skipping')).toBe(true);
      slowMs = 0;
      await world.cluster.advance(3 * pollMs);
      expect(since(before).map(({ trigger }) => trigger)).toEqual(['reconcile', 'poll']);
      expect(since(before)[1]!.begunAt).toBeGreaterThanOrEqual(since(before)[0]!.endedAt!);
    },
  );

  test('Concurrency, Reconcile: waits for a running apply and begins when it ends', { timeout: limit }, async () => {
    await afterReconcile();
    slowMs = 2 * reconcileMs;
    const before = applies.length;
    await world.git.push(replicas(7), 'slow');
    await world.cluster.advance(pollMs);
    expect(since(before)).toMatchObject([{ trigger: 'poll' }]);
    slowMs = 0;
    await afterReconcile();
    const [poll, reconcile] = since(before);
    expect(poll!.endedAt! - poll!.begunAt).toBeGreaterThanOrEqual(2 * reconcileMs);
    expect(reconcile).toMatchObject({ trigger: 'reconcile', begunAt: poll!.endedAt });
  });

  test(
    'Operations: Reconcile decrypts and does not migrate; Poll migrates, then validates',
    { timeout: limit },
    async () => {
      const versions = join(world.settings.envDir, 'env/settings/versions.yaml');
      const current = await readFile(versions, 'utf8');
      await afterReconcile();
      await world.git.push(
        { 'env/settings/versions.yaml': current.replace(/specVersion: \d+/, 'specVersion: 1') },
        'an old version [ci skip]',
      );
      const migrations = () => running.logs.filter(({ message }) => message === 'values migrated').length;
      const before = migrations();
      await afterReconcile();
      expect(await readFile(versions, 'utf8')).toContain('specVersion: 1');
      expect(migrations()).toBe(before);
      const applied = applies.length;
      await world.git.push({ ...replicas(8), 'env/apps/shop.yaml': 'spec: [\n' }, 'broken');
      // TRAP: a commit that cannot be applied is not tried again by the polls after it.
      await world.cluster.advance(3 * pollMs);
      expect(since(applied)).toMatchObject([{ trigger: 'poll', status: 'failed' }]);
      await world.git.push({ 'env/apps/shop.yaml': undefined }, 'mended');
      await world.cluster.advance(pollMs);
      expect(since(applied)[1]).toMatchObject({ trigger: 'poll', status: 'succeeded' });
      expect(migrations()).toBe(before + 1);
      expect(await readFile(versions, 'utf8')).toBe(current);
    },
  );

  test(
    'Error Handling: an apply that fails is tried 4 times a second apart, shows as failed, and both loops go on',
    { timeout: limit },
    async () => {
      await afterReconcile();
      failing = true;
      const before = applies.length;
      const asks = selections.length;
      await afterReconcile();
      expect(since(before)).toMatchObject([{ status: 'failed', error: 'Apply operation failed: told to fail' }]);
      expect(selections.length - asks).toBe(4);
      expect(since(before)[0]!.endedAt! - since(before)[0]!.begunAt).toBe(3000);
      failing = false;
      const polls = asked.length;
      await afterReconcile();
      expect(applies.at(-1)).toMatchObject({ status: 'succeeded' });
      expect(asked.length - polls).toBe(reconcileMs / pollMs);
    },
  );

  test('Error Handling: a poll that cannot reach Git is logged and the loop goes on', { timeout: limit }, async () => {
    await afterReconcile();
    unreachable = true;
    const before = applies.length;
    await world.cluster.advance(2 * pollMs);
    const failed = running.logs.filter(({ message }) => message === 'Error during git polling cycle');
    expect(failed.length).toBeGreaterThanOrEqual(2);
    await world.git.push(replicas(9), 'after the outage');
    unreachable = false;
    await world.cluster.advance(pollMs);
    expect(since(before)).toMatchObject([{ trigger: 'poll', status: 'succeeded' }]);
  });

  test(
    'an operator that is stopped closes its connection to Git, and asks nothing after that',
    { timeout: limit },
    async () => {
      expect(closedAt).toEqual([]);
      let stopped = false;
      const stopping = running.stop().finally(() => (stopped = true));
      await world.cluster.eventually('it has stopped', () => stopped);
      await stopping;
      expect(closedAt).toEqual([asked.length]);
      await world.cluster.advance(2 * pollMs);
      expect(closedAt).toEqual([asked.length]);
    },
  );
});
