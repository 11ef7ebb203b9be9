import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onReference, skipped } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { platformWorld, type PlatformWorld } from './platform-kit.ts';
import { forksDuring, replicas, watchLoops, type Apply, type WatchedLoops } from './watched-loops.ts';

const limit = 300_000;
const [pollMs, reconcileMs] = [200, 2_000];
/** A real timer may ring a moment early. */
const early = 10;
const realOnly = skipped(
  !onReference,
  'on the embedded API server: the loops at short intervals of real time (loops.test.ts has those of the seed)',
);

/** The seed's table "Apply Trigger Comparison" once more, on a real cluster: a busy machine may be late, so order counts and not time. */
describe.skipIf(realOnly)('Apply trigger comparison on machine time', () => {
  let world: PlatformWorld;
  let loops: WatchedLoops;

  beforeAll(async () => {
    const env = { POLL_INTERVAL_MS: String(pollMs), RECONCILE_INTERVAL_MS: String(reconcileMs) };
    world = await platformWorld({ env });
    loops = await watchLoops(world);
  }, limit);
  afterAll(async () => await world[Symbol.asyncDispose](), limit);

  const eventually = async <T>(what: string, check: () => T | Promise<T>) =>
    await world.cluster.eventually(what, check, { withinMs: 90_000 });
  const since = (count: number): readonly Apply[] => loops.applies.slice(count);
  const reconciles = (among: readonly Apply[]): readonly Apply[] =>
    among.filter(({ trigger, endedAt }) => trigger === 'reconcile' && endedAt !== undefined);
  /** So many applies of the reconcile loop that begin from now on, when they are through. */
  const nextReconciles = async (count: number): Promise<readonly Apply[]> => {
    const before = loops.applies.length;
    await eventually('reconciles are through', () => reconciles(since(before)).length >= count);
    return reconciles(since(before)).slice(0, count);
  };
  const polled = async (times: number): Promise<void> => {
    const polls = loops.asked.length;
    await eventually('Git was polled', () => loops.asked.length >= polls + times);
  };
  /** What an apply of this loop came to that began with the commit. */
  const ended = async (trigger: string, commit: string): Promise<Apply> =>
    await eventually(`${trigger} is through with ${commit}`, () =>
      loops.applies.find(
        (apply) => apply.trigger === trigger && apply.commitHash === commit && apply.endedAt !== undefined,
      ),
    );
  const appliesOf = (commit: string, trigger: string): readonly Apply[] =>
    loops.applies.filter((apply) => apply.commitHash === commit && apply.trigger === trigger);
  /** From now on applies stop in their middle, until what it gives is called. */
  const holdUp = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    loops.holdUp = () => promise;
    return () => {
      loops.holdUp = async () => undefined;
      resolve();
    };
  };

  test(
    'Frequency: each pause is from the end of the work, that of Poll and that of Reconcile',
    { timeout: limit },
    async () => {
      const polls = loops.asked.length;
      const [first, second] = await nextReconciles(2);
      expect(second!.begunAt - first!.endedAt!).toBeGreaterThanOrEqual(reconcileMs - early);
      const times = loops.asked.slice(polls);
      expect(times.length).toBeGreaterThan(1);
      for (const [index, at] of times.slice(1).entries())
        expect(at - times[index]!).toBeGreaterThanOrEqual(pollMs - early);
    },
  );

  test(
    'Condition, Poll: without Git changes nothing is applied, and an idle poll starts no process',
    { timeout: limit },
    async () => {
      const idle = await eventually('polls between two reconciles', async () => {
        await nextReconciles(1);
        const before = loops.applies.length;
        const seen = await forksDuring(() => polled(3));
        return loops.applies.length === before ? seen : undefined;
      });
      expect(idle.served).toBeGreaterThan(0);
      expect(idle.forks).toEqual([]);
      expect(loops.applies.filter(({ trigger }) => trigger === 'poll')).toEqual([]);
    },
  );

  test(
    'Condition, Poll: Git changes detected; Apply Type: teams only by changed files',
    { timeout: limit },
    async () => {
      const team = { 'env/teams/green/settings.yaml': 'kind: AplTeamSettingSet\nspec: {}\n' };
      const { status, selections } = await ended('poll', await world.git.push(team, 'a team'));
      expect([status, selections]).toEqual(['succeeded', ['pipeline=otomi-task-teams']]);
    },
  );

  test(
    'Apply Type: other files changed, Poll applies everything; Reconcile always everything',
    { timeout: limit },
    async () => {
      const { status, selections } = await ended('poll', await world.git.push(replicas(2), 'more'));
      expect([status, selections]).toEqual(['succeeded', ['all']]);
      await nextReconciles(1);
      for (const reconcile of reconciles(loops.applies)) expect(reconcile.selections).toEqual(['all']);
    },
  );

  test(
    'Skip Logic: Poll ignores [ci skip]; Reconcile has none and applies what Poll took over',
    { timeout: limit },
    async () => {
      const commit = await world.git.push(replicas(5), 'more [ci skip]');
      expect(await ended('reconcile', commit)).toMatchObject({ status: 'succeeded' });
      await polled(3);
      expect(appliesOf(commit, 'poll')).toEqual([]);
    },
  );

  test(
    'Concurrency, Poll: skips its round while an apply is running, and finds the change afterwards',
    { timeout: limit },
    async () => {
      await nextReconciles(1);
      const before = loops.applies.length;
      const goOn = holdUp();
      await eventually('a reconcile has begun', () => loops.applies.length > before);
      const skips = () =>
        loops.running.logs.filter(({ message }) => message === '[poll] Apply already in progress, skipping').length;
      const skipped = skips();
      await eventually('Poll skips its rounds', () => skips() > skipped);
      const polls = loops.asked.length;
      const commit = await world.git.push(replicas(6), 'while it runs');
      await eventually('Poll skips more of them', () => skips() > skipped + 3);
      expect(loops.asked.length).toBe(polls);
      goOn();
      const poll = await ended('poll', commit);
      const [reconcile] = since(before);
      expect(reconcile).toMatchObject({ trigger: 'reconcile', status: 'succeeded' });
      expect(poll.begunAt).toBeGreaterThanOrEqual(reconcile!.endedAt!);
    },
  );

  test('Concurrency, Reconcile: waits for a running apply and begins when it ends', { timeout: limit }, async () => {
    let count = 0;
    const { commit, goOn } = await eventually('Poll is held up', async () => {
      await nextReconciles(1);
      const before = loops.applies.length;
      const hold = holdUp();
      const pushed = await world.git.push(replicas((count += 1)), 'slow');
      await eventually('an apply has begun', () => loops.applies.length > before);
      if (since(before)[0]!.trigger === 'poll') return { commit: pushed, goOn: hold };
      // On a busy machine Reconcile may have been first.
      hold();
      return undefined;
    });
    const before = loops.applies.length;
    await world.cluster.advance(2 * reconcileMs);
    expect(loops.applies.length).toBe(before);
    goOn();
    const poll = await ended('poll', commit);
    await eventually('Reconcile has begun', () => loops.applies.length > before);
    expect(since(before)[0]!.trigger).toBe('reconcile');
    expect(since(before)[0]!.begunAt).toBeGreaterThanOrEqual(poll.endedAt!);
  });

  test(
    'Operations: Reconcile decrypts and does not migrate; Poll migrates, then validates',
    { timeout: limit },
    async () => {
      const versions = join(world.settings.envDir, 'env/settings/versions.yaml');
      const current = await readFile(versions, 'utf8');
      const old = { 'env/settings/versions.yaml': current.replace(/specVersion: \d+/, 'specVersion: 1') };
      const migrations = () => loops.running.logs.filter(({ message }) => message === 'values migrated').length;
      const before = migrations();
      await ended('reconcile', await world.git.push(old, 'an old version [ci skip]'));
      expect(await readFile(versions, 'utf8')).toContain('specVersion: 1');
      expect(migrations()).toBe(before);
      const broken = await world.git.push({ ...replicas(8), 'env/apps/shop.yaml': 'spec: [\n' }, 'broken');
      expect(await ended('poll', broken)).toMatchObject({ status: 'failed' });
      // TRAP: a commit that cannot be applied is not tried again by the polls after it.
      await polled(3);
      expect(appliesOf(broken, 'poll')).toHaveLength(1);
      const mended = await world.git.push({ 'env/apps/shop.yaml': undefined }, 'mended');
      expect(await ended('poll', mended)).toMatchObject({ status: 'succeeded' });
      expect(migrations()).toBe(before + 1);
      expect(await readFile(versions, 'utf8')).toBe(current);
    },
  );

  test(
    'Error Handling: an apply that fails is tried 4 times a second apart, shows as failed, and both loops go on',
    { timeout: limit },
    async () => {
      await nextReconciles(1);
      loops.failing = true;
      const [failed] = await nextReconciles(1);
      loops.failing = false;
      expect(failed).toMatchObject({ status: 'failed', error: 'Apply operation failed: told to fail' });
      expect(failed!.selections).toHaveLength(4);
      expect(failed!.endedAt! - failed!.begunAt).toBeGreaterThanOrEqual(3 * (1000 - early));
      await polled(1);
      await eventually('a reconcile succeeds', () => reconciles(loops.applies).at(-1)!.status === 'succeeded');
    },
  );

  test('Error Handling: a poll that cannot reach Git is logged and the loop goes on', { timeout: limit }, async () => {
    const failures = () =>
      loops.running.logs.filter(({ message }) => message === 'Error during git polling cycle').length;
    loops.unreachable = true;
    const before = failures();
    await eventually('polls fail', () => failures() >= before + 2);
    const commit = await world.git.push(replicas(9), 'after the outage');
    loops.unreachable = false;
    expect(await ended('poll', commit)).toMatchObject({ status: 'succeeded' });
  });

  test(
    'an operator that is stopped closes its connection to Git, and asks nothing after that',
    { timeout: limit },
    async () => {
      expect(loops.closedAt).toEqual([]);
      await loops.running.stop();
      const polls = loops.asked.length;
      expect(loops.closedAt).toEqual([polls]);
      await world.cluster.advance(5 * pollMs);
      expect(loops.asked.length).toBe(polls);
    },
  );
});
