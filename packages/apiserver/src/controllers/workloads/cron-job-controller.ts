import { cloneJson } from '../../clone-json.ts';
import { ApiError } from '../../api-error.ts';
import { kubeTime } from '../../clock.ts';
import type { ControllerContext, RunningController } from '../controller.ts';
import { objectKey, splitKey } from '../informer.ts';
import { WorkQueue } from '../work-queue.ts';
import { parseCronSchedule, type CronSchedule } from './cron-schedule.ts';
import { eventRecorder } from './event-recorder.ts';
import { isJobFinished } from './job-controller.ts';
import type { CronJob, Job } from './kinds.ts';
import { controllerOf, controllerReference } from './ownership.ts';
import { stableJson } from './template-hash.ts';

const CRON_JOBS = { group: 'batch', version: 'v1', plural: 'cronjobs' };
const JOBS = { group: 'batch', version: 'v1', plural: 'jobs' };
const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** Starts Jobs at the times a CronJob names, and clears away old ones. */
export function startCronJobController(context: ControllerContext): RunningController {
  const { client, clock, informers, log } = context;
  const cronJobs = informers.of('batch', 'v1', 'cronjobs');
  const jobs = informers.of('batch', 'v1', 'jobs');
  const events = eventRecorder(context, 'cronjob-controller');
  const queue = new WorkQueue({ name: 'CronJob controller', clock, log, process });

  async function process(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    let cronJob = cronJobs.get(namespace, name) as CronJob | undefined;
    if (!cronJob) {
      return;
    }
    const own = [...(jobs.list(namespace) as Iterable<Job>)].filter(
      (job) => controllerOf(job)?.uid === cronJob!.metadata.uid,
    );
    cronJob = await writeStatus(cronJob, followedStatus(cronJob, own));
    await trimHistory(cronJob, own);
    if (cronJob.metadata.deletionTimestamp !== undefined || cronJob.spec.suspend === true) {
      return;
    }
    let schedule: CronSchedule;
    try {
      schedule = parseCronSchedule(cronJob.spec.schedule, cronJob.spec.timeZone);
    } catch (error) {
      const text = `invalid schedule: ${cronJob.spec.schedule} : ${(error as Error).message}`;
      events.event(cronJob, 'Warning', 'UnparseableSchedule', text);
      return;
    }
    const due = lastDue(cronJob, schedule);
    if (due !== undefined) {
      await start(cronJob, own, due);
    }
    const next = schedule.next(clock.now());
    if (next !== undefined) {
      queue.addAfter(key, next - clock.now());
    }
  }

  function followedStatus(cronJob: CronJob, own: readonly Job[]): NonNullable<CronJob['status']> {
    const status = { ...cronJob.status };
    const running = own.filter((job) => !isJobFinished(job));
    const known = status.active ?? [];
    status.active = running.map(
      (job) => known.find((reference) => reference.uid === job.metadata.uid) ?? referenceTo(job),
    );
    for (const job of own) {
      const completed = isJobFinished(job)?.type === 'Complete' ? job.status?.completionTime : undefined;
      if (completed && completed > (status.lastSuccessfulTime ?? '')) {
        status.lastSuccessfulTime = completed;
      }
      const before = known.find((reference) => reference.uid === job.metadata.uid);
      if (before && isJobFinished(job)) {
        const text = `Saw completed job: ${job.metadata.name}, condition: ${isJobFinished(job)!.type}`;
        events.event(cronJob, 'Normal', 'SawCompletedJob', text);
      }
    }
    if (status.active.length === 0) {
      delete status.active;
    }
    return status;
  }

  function referenceTo(job: Job) {
    return {
      kind: 'Job',
      namespace: job.metadata.namespace!,
      name: job.metadata.name!,
      uid: job.metadata.uid!,
      apiVersion: 'batch/v1',
      resourceVersion: job.metadata.resourceVersion!,
    };
  }

  /** The latest time that should have started a Job and has not. */
  function lastDue(cronJob: CronJob, schedule: CronSchedule): number | undefined {
    const now = clock.now();
    let from = Date.parse(cronJob.status?.lastScheduleTime ?? cronJob.metadata.creationTimestamp!);
    const deadline = cronJob.spec.startingDeadlineSeconds;
    if (deadline !== undefined) {
      from = Math.max(from, now - deadline * 1_000);
    }
    let due: number | undefined;
    for (let time = schedule.next(from); time !== undefined && time <= now; time = schedule.next(time)) {
      due = time;
    }
    return due;
  }

  async function start(cronJob: CronJob, own: readonly Job[], due: number): Promise<void> {
    const running = own.filter((job) => !isJobFinished(job));
    const policy = cronJob.spec.concurrencyPolicy ?? 'Allow';
    if (policy === 'Forbid' && running.length > 0) {
      const text = 'Not starting job because prior execution is running and concurrency policy is Forbid';
      events.event(cronJob, 'Normal', 'JobAlreadyActive', text);
      return;
    }
    if (policy === 'Replace') {
      for (const job of running) {
        await deleteJob(cronJob, job);
      }
    }
    const { namespace } = cronJob.metadata;
    const template = cronJob.spec.jobTemplate;
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: `${cronJob.metadata.name}-${Math.floor(due / 60_000)}`,
        namespace,
        labels: { ...template.metadata?.labels },
        annotations: { ...template.metadata?.annotations, [SCHEDULED_AT]: kubeTime(due) },
        ownerReferences: [controllerReference(cronJob)],
      },
      spec: cloneJson(template.spec),
    };
    let created: Job | undefined;
    try {
      created = (await client.create({ ...JOBS, namespace }, job)) as Job;
      events.event(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${job.metadata.name}`);
    } catch (error) {
      if (!(error instanceof ApiError && error.status.reason === 'AlreadyExists')) {
        events.event(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${(error as Error).message}`);
        throw error;
      }
    }
    const latest = (cronJobs.get(namespace, cronJob.metadata.name!) as CronJob | undefined) ?? cronJob;
    const survivors = policy === 'Replace' ? [] : (latest.status?.active ?? []);
    const active = created ? [...survivors, referenceTo(created)] : survivors;
    await writeStatus(latest, {
      ...latest.status,
      ...(active.length > 0 ? { active } : {}),
      lastScheduleTime: kubeTime(due),
    });
  }

  async function deleteJob(cronJob: CronJob, job: Job): Promise<void> {
    const { namespace, name, uid } = job.metadata;
    try {
      await client.delete(
        { ...JOBS, namespace, name: name! },
        { propagationPolicy: 'Background', preconditions: { uid: uid! } },
      );
      events.event(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`);
    } catch (error) {
      if (!(error instanceof ApiError && error.status.code === 404)) {
        throw error;
      }
    }
  }

  async function trimHistory(cronJob: CronJob, own: readonly Job[]): Promise<void> {
    const limits = [
      ['Complete', cronJob.spec.successfulJobsHistoryLimit ?? 3],
      ['Failed', cronJob.spec.failedJobsHistoryLimit ?? 1],
    ] as const;
    for (const [type, limit] of limits) {
      const finished = own
        .filter((job) => isJobFinished(job)?.type === type && job.metadata.deletionTimestamp === undefined)
        .sort((a, b) => (a.status?.startTime ?? '').localeCompare(b.status?.startTime ?? ''));
      for (const job of finished.slice(0, Math.max(0, finished.length - limit))) {
        await deleteJob(cronJob, job);
      }
    }
  }

  async function writeStatus(cronJob: CronJob, status: NonNullable<CronJob['status']>): Promise<CronJob> {
    if (stableJson(status) === stableJson(cronJob.status ?? {})) {
      return cronJob;
    }
    const { namespace, name } = cronJob.metadata;
    const address = { ...CRON_JOBS, namespace, name: name!, subresource: 'status' };
    return (await client.update(address, { ...cronJob, status })) as CronJob;
  }

  const unsubscribers = [
    cronJobs.subscribe(({ object, deleted }) => {
      if (!deleted) {
        queue.add(objectKey(object));
      }
    }),
    jobs.subscribe(({ object }) => {
      const controller = controllerOf(object);
      if (controller?.kind === 'CronJob') {
        queue.add(`${object.metadata.namespace}/${controller.name}`);
      }
    }),
  ];
  return {
    stop() {
      unsubscribers.forEach((unsubscribe) => unsubscribe());
      queue.stop();
    },
  };
}
