import { expect, test } from 'vitest';
import type { ApiObject } from '../../object.ts';
import { formatIndexes, parseIndexes } from './job-indexes.ts';
import type { CronJob, Job, JobStatus, Pod } from './kinds.ts';
import { cronJobs, eventTexts, jobs, pods, startWorkloads, statusHistory } from './workloads.fixture.ts';

function job(name: string, spec: Partial<Job['spec']> = {}, restartPolicy = 'Never'): ApiObject {
  const template = { spec: { restartPolicy, containers: [{ name: 'c', image: 'x' }] } };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default' },
    spec: { template, ...spec },
  };
}

function conditions(status: JobStatus | undefined): string[] {
  return (status?.conditions ?? []).map(({ type, status: value, reason }) => `${type}=${value} ${reason}`);
}

test('a Job runs its pod, counts it once and completes', async () => {
  await using plane = await startWorkloads({ podStage: { runMs: 1_000 } });
  const history = statusHistory<JobStatus>(plane, 'jobs.batch', 'job');
  await plane.client.create(jobs, job('job'));
  await plane.clock.settle();
  const [pod] = (await plane.client.list(pods)).items as Pod[];
  expect(pod!.metadata.finalizers).toEqual(['batch.kubernetes.io/job-tracking']);
  expect(history.at(-1)).toMatchObject({ active: 1, ready: 1, terminating: 0, uncountedTerminatedPods: {} });

  await plane.clock.advance(1_000);

  const [last, counting] = [history.at(-1)!, history.at(-2)!];
  expect(counting.uncountedTerminatedPods).toEqual({ succeeded: [pod!.metadata.uid] });
  expect(conditions(counting)).toEqual(['SuccessCriteriaMet=True CompletionsReached']);
  expect(counting.succeeded).toBeUndefined();
  expect(last).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {}, ready: 0, terminating: 0 });
  expect(last.completionTime).toBeDefined();
  expect(conditions(last)).toEqual(['SuccessCriteriaMet=True CompletionsReached', 'Complete=True CompletionsReached']);
  const [finished] = (await plane.client.list(pods)).items as Pod[];
  expect(finished!.status?.phase).toBe('Succeeded');
  expect(finished!.metadata.finalizers).toBeUndefined();
  expect(await eventTexts(plane, 'Job')).toEqual([
    `SuccessfulCreate: Created pod: ${pod!.metadata.name}`,
    'Completed: Job completed',
  ]);
  expect(plane.complaints).toEqual([]);
});

test('completions are reached with no more than `parallelism` pods at a time', async () => {
  await using plane = await startWorkloads({ podStage: { runMs: 1_000 } });
  let most = 0;
  plane.cluster.observe(({ storageId }) => {
    if (storageId === 'pods') {
      const active = plane.cluster.server.store
        .list('pods', 'default')
        .filter(({ object }) => !['Succeeded', 'Failed'].includes((object['status'] as { phase: string }).phase));
      most = Math.max(most, active.length);
    }
  });
  await plane.client.create(jobs, job('many', { completions: 5, parallelism: 2 }));
  await plane.clock.advance(10_000);
  const done = (await plane.find({ ...jobs, name: 'many' })) as Job;
  expect(done.status).toMatchObject({ succeeded: 5 });
  expect(most).toBe(2);
});

test('failed pods are tried again after a growing pause, until the limit', async () => {
  await using plane = await startWorkloads();
  plane.controllers.simulation.when({ owner: { kind: 'Job' } }, { outcome: 'fail', exitCode: 3 });
  await plane.client.create(jobs, job('bad', { backoffLimit: 2 }));
  await plane.clock.settle();
  expect((await plane.client.list(pods)).items).toHaveLength(1);
  await plane.clock.advance(9_000);
  expect((await plane.client.list(pods)).items).toHaveLength(1);
  await plane.clock.advance(2_000);
  expect((await plane.client.list(pods)).items).toHaveLength(2);
  await plane.clock.advance(60_000);
  const failed = (await plane.find({ ...jobs, name: 'bad' })) as Job;
  expect(failed.status).toMatchObject({ failed: 3 });
  expect(conditions(failed.status)).toEqual([
    'FailureTarget=True BackoffLimitExceeded',
    'Failed=True BackoffLimitExceeded',
  ]);
  expect(await eventTexts(plane, 'Job')).toContain('BackoffLimitExceeded: Job has reached the specified backoff limit');
});

test('a Job recovers when only its first pod fails', async () => {
  await using plane = await startWorkloads();
  plane.controllers.simulation.when({ owner: { name: 'flaky' } }, { outcome: 'fail' }, { times: 1 });
  await plane.client.create(jobs, job('flaky'));
  await plane.clock.advance(30_000);
  const done = (await plane.find({ ...jobs, name: 'flaky' })) as Job;
  expect(done.status).toMatchObject({ succeeded: 1, failed: 1 });
});

test('a Job past its deadline fails and its pods go', async () => {
  await using plane = await startWorkloads();
  plane.controllers.simulation.when({}, { outcome: 'run' });
  await plane.client.create(jobs, job('slow', { activeDeadlineSeconds: 30 }));
  await plane.clock.advance(29_000);
  expect(((await plane.find({ ...jobs, name: 'slow' })) as Job).status).toMatchObject({ active: 1 });
  await plane.clock.advance(5_000);
  const failed = (await plane.find({ ...jobs, name: 'slow' })) as Job;
  expect(conditions(failed.status)).toContain('Failed=True DeadlineExceeded');
  expect((await plane.client.list(pods)).items).toHaveLength(0);
});

test('a suspended Job has no pods until it is resumed', async () => {
  await using plane = await startWorkloads({ podStage: { runMs: 60_000 } });
  await plane.client.create(jobs, job('held', { suspend: true }));
  await plane.clock.settle();
  const held = (await plane.find({ ...jobs, name: 'held' })) as Job;
  expect(conditions(held.status)).toEqual(['Suspended=True JobSuspended']);
  expect((await plane.client.list(pods)).items).toHaveLength(0);
  await plane.client.patch({ ...jobs, name: 'held' }, 'merge', { spec: { suspend: false } });
  await plane.clock.settle();
  expect((await plane.client.list(pods)).items).toHaveLength(1);
  await plane.client.patch({ ...jobs, name: 'held' }, 'merge', { spec: { suspend: true } });
  await plane.clock.settle();
  expect((await plane.client.list(pods)).items).toHaveLength(0);
});

test('a finished Job goes when its time to live is over', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(jobs, job('brief', { ttlSecondsAfterFinished: 100 }));
  await plane.clock.advance(99_000);
  expect(await plane.find({ ...jobs, name: 'brief' })).toBeDefined();
  await plane.clock.advance(2_000);
  expect(await plane.find({ ...jobs, name: 'brief' })).toBeUndefined();
  expect((await plane.client.list(pods)).items).toHaveLength(0);
});

test('an indexed Job runs one pod per index', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(jobs, job('parts', { completions: 3, parallelism: 2, completionMode: 'Indexed' }));
  await plane.clock.advance(1_000);
  const done = (await plane.find({ ...jobs, name: 'parts' })) as Job;
  expect(done.status).toMatchObject({ succeeded: 3, completedIndexes: '0-2' });
  const indexes = (await plane.client.list(pods)).items.map(
    ({ metadata }) => metadata.annotations!['batch.kubernetes.io/job-completion-index'],
  );
  expect(new Set(indexes)).toEqual(new Set(['0', '1', '2']));
});

test('completed indexes are written as ranges', () => {
  expect(formatIndexes(new Set([7, 1, 3, 4, 5, 9, 10]))).toBe('1,3-5,7,9,10');
  expect([...parseIndexes('1,3-5,7')]).toEqual([1, 3, 4, 5, 7]);
});

function cronJob(name: string, spec: Partial<CronJob['spec']> = {}): ApiObject {
  const jobTemplate = { spec: job('x')['spec'] as Job['spec'] };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace: 'default' },
    spec: { schedule: '*/5 * * * *', jobTemplate, ...spec },
  };
}

test('a CronJob starts Jobs on time and keeps the last three', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(cronJobs, cronJob('tick'));
  await plane.clock.advance(4 * 60_000);
  expect((await plane.client.list(jobs)).items).toHaveLength(0);
  await plane.clock.advance(2 * 60_000);
  const [first] = (await plane.client.list(jobs)).items;
  expect(first!.metadata.name).toBe(`tick-${(1_893_456_000_000 + 300_000) / 60_000}`);
  expect(first!.metadata.annotations!['batch.kubernetes.io/cronjob-scheduled-timestamp']).toBe('2030-01-01T00:05:00Z');
  const status = (await plane.find({ ...cronJobs, name: 'tick' }))!['status'] as CronJob['status'];
  expect(status).toMatchObject({
    lastScheduleTime: '2030-01-01T00:05:00Z',
    lastSuccessfulTime: '2030-01-01T00:05:00Z',
  });
  expect(status!.active).toBeUndefined();
  await plane.clock.advance(60 * 60_000);
  expect((await plane.client.list(jobs)).items).toHaveLength(3);
});

test('Forbid starts nothing while a Job runs, Replace replaces it', async () => {
  await using plane = await startWorkloads({ podStage: { runMs: 3_600_000 } });
  await plane.client.create(cronJobs, cronJob('one', { concurrencyPolicy: 'Forbid' }));
  await plane.client.create(cronJobs, cronJob('two', { concurrencyPolicy: 'Replace' }));
  await plane.clock.advance(11 * 60_000);
  const names = (await plane.client.list(jobs)).items.map(({ metadata }) => metadata.name);
  expect(names).toEqual(['one-31557605', 'two-31557610']);
});

test('a suspended CronJob starts nothing', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(cronJobs, cronJob('idle', { suspend: true }));
  await plane.clock.advance(20 * 60_000);
  expect((await plane.client.list(jobs)).items).toHaveLength(0);
});
