import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '@slipway/kube';
import { onReference, skipped } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { platformWorld, type PlatformWorld } from './platform-kit.ts';
import { forksDuring, replicas, watchLoops, type Apply, type WatchedLoops } from './watched-loops.ts';

const limit = 300_000;
const [pollMs, reconcileMs] = [30_000, 300_000];
const embeddedOnly = skipped(
  onReference,
  'on the real API server: the loops at the intervals of the seed, which need virtual time (loops-machine-time.test.ts has shorter ones)',
);

/** The seed's table "Apply Trigger Comparison", row by row, with the intervals of its columns. */
describe.skipIf(embeddedOnly)('Apply trigger comparison', () => {
  let world: PlatformWorld;
  let loops: WatchedLoops;

  beforeAll(async () => {
    world = await platformWorld();
    loops = await watchLoops(world);
  }, limit);
  afterAll(async () => await world[Symbol.asyncDispose]());

  const slowedBy = (ms: number): void => void (loops.holdUp = (clock) => sleep(clock, ms));
  const fast = (): void => void (loops.holdUp = async () => undefined);
  const since = (count: number): readonly Apply[] => loops.applies.slice(count);
  /** To a quiet moment right after an apply of the reconcile loop. */
  const afterReconcile = async (): Promise<void> => {
    const before = loops.applies.length;
    await world.cluster.eventually('a reconcile is through', () =>
      since(before).some(({ trigger, endedAt }) => trigger === 'reconcile' && endedAt !== undefined),
    );
  };

  test(
    'Frequency: Poll every 30 s, Reconcile every 5 minutes, each pause from the end of the work',
    { timeout: limit },
    async () => {
      await afterReconcile();
      const [before, polls] = [loops.applies.length, loops.asked.length];
      await world.cluster.advance(2 * reconcileMs);
      expect(since(before).map(({ trigger }) => trigger)).toEqual(['reconcile', 'reconcile']);
      expect(loops.asked.length - polls).toBe((2 * reconcileMs) / pollMs);
    },
  );

  test(
    'Condition, Poll: without Git changes nothing is applied, and an idle poll starts no process',
    { timeout: limit },
    async () => {
      await afterReconcile();
      const [before, polls] = [loops.applies.length, loops.asked.length];
      const { forks, served } = await forksDuring(() => world.cluster.advance(8 * pollMs));
      expect(loops.asked.length - polls).toBe(8);
      expect(loops.applies.length).toBe(before);
      expect(served).toBe(8);
      expect(forks).toEqual([]);
    },
  );

  test(
    'Condition, Poll: Git changes detected; Apply Type: teams only by changed files',
    { timeout: limit },
    async () => {
      await afterReconcile();
      const before = loops.applies.length;
      await world.git.push({ 'env/teams/green/settings.yaml': 'kind: AplTeamSettingSet\nspec: {}\n' }, 'a team');
      await world.cluster.advance(pollMs);
      expect(since(before)).toMatchObject([
        { trigger: 'poll', status: 'succeeded', selections: ['pipeline=otomi-task-teams'] },
      ]);
    },
  );

  test(
    'Apply Type: other files changed, Poll applies everything; Reconcile always everything',
    { timeout: limit },
    async () => {
      await afterReconcile();
      const before = loops.applies.length;
      await world.git.push(replicas(2), 'more');
      await world.cluster.advance(pollMs);
      expect(since(before)).toMatchObject([{ trigger: 'poll', status: 'succeeded' }]);
      await afterReconcile();
      expect(since(before).map(({ selections }) => selections)).toEqual([['all'], ['all']]);
    },
  );

  test(
    'Skip Logic: Poll ignores [ci skip]; Reconcile has none and applies what Poll took over',
    { timeout: limit },
    async () => {
      await afterReconcile();
      const before = loops.applies.length;
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
      slowedBy(4 * pollMs);
      const before = loops.applies.length;
      await world.cluster.eventually('a reconcile has begun', () => loops.applies.length > before);
      const polls = loops.asked.length;
      await world.git.push(replicas(6), 'while it runs');
      await world.cluster.advance(3 * pollMs);
      expect(loops.asked.length).toBe(polls);
      expect(loops.running.logs.some(({ message }) => message === '[poll] Apply already in progress, skipping')).toBe(
        true,
      );
      fast();
      await world.cluster.advance(3 * pollMs);
      expect(since(before).map(({ trigger }) => trigger)).toEqual(['reconcile', 'poll']);
      expect(since(before)[1]!.begunAt).toBeGreaterThanOrEqual(since(before)[0]!.endedAt!);
    },
  );

  test('Concurrency, Reconcile: waits for a running apply and begins when it ends', { timeout: limit }, async () => {
    await afterReconcile();
    slowedBy(2 * reconcileMs);
    const before = loops.applies.length;
    await world.git.push(replicas(7), 'slow');
    await world.cluster.advance(pollMs);
    expect(since(before)).toMatchObject([{ trigger: 'poll' }]);
    fast();
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
      const migrations = () => loops.running.logs.filter(({ message }) => message === 'values migrated').length;
      const before = migrations();
      await afterReconcile();
      expect(await readFile(versions, 'utf8')).toContain('specVersion: 1');
      expect(migrations()).toBe(before);
      const applied = loops.applies.length;
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
      loops.failing = true;
      const before = loops.applies.length;
      await afterReconcile();
      expect(since(before)).toMatchObject([{ status: 'failed', error: 'Apply operation failed: told to fail' }]);
      expect(since(before)[0]!.selections).toHaveLength(4);
      expect(since(before)[0]!.endedAt! - since(before)[0]!.begunAt).toBe(3000);
      loops.failing = false;
      const polls = loops.asked.length;
      await afterReconcile();
      expect(loops.applies.at(-1)).toMatchObject({ status: 'succeeded' });
      expect(loops.asked.length - polls).toBe(reconcileMs / pollMs);
    },
  );

  test('Error Handling: a poll that cannot reach Git is logged and the loop goes on', { timeout: limit }, async () => {
    await afterReconcile();
    loops.unreachable = true;
    const before = loops.applies.length;
    await world.cluster.advance(2 * pollMs);
    const failed = loops.running.logs.filter(({ message }) => message === 'Error during git polling cycle');
    expect(failed.length).toBeGreaterThanOrEqual(2);
    await world.git.push(replicas(9), 'after the outage');
    loops.unreachable = false;
    await world.cluster.advance(pollMs);
    expect(since(before)).toMatchObject([{ trigger: 'poll', status: 'succeeded' }]);
  });

  test(
    'an operator that is stopped closes its connection to Git, and asks nothing after that',
    { timeout: limit },
    async () => {
      expect(loops.closedAt).toEqual([]);
      let stopped = false;
      const stopping = loops.running.stop().finally(() => (stopped = true));
      await world.cluster.eventually('it has stopped', () => stopped);
      await stopping;
      expect(loops.closedAt).toEqual([loops.asked.length]);
      await world.cluster.advance(2 * pollMs);
      expect(loops.closedAt).toEqual([loops.asked.length]);
    },
  );
});
