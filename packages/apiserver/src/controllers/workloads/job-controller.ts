import { ApiError } from '../../api-error.ts';
import { kubeTime } from '../../clock.ts';
import type { ControllerContext, RunningController } from '../controller.ts';
import { objectKey, splitKey } from '../informer.ts';
import { WorkQueue } from '../work-queue.ts';
import { eventRecorder } from './event-recorder.ts';
import { formatIndexes, parseIndexes } from './job-indexes.ts';
import type { Condition, Job, JobStatus, Pod } from './kinds.ts';
import { claim, controllerOf } from './ownership.ts';
import {
  PODS,
  createPod,
  deletePod,
  isPodActive,
  isPodFinished,
  isPodReady,
  podFrom,
  rankForDeletion,
} from './pods.ts';
import { stableJson } from './template-hash.ts';

const JOBS = { group: 'batch', version: 'v1', plural: 'jobs' };
const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
const INDEX_ANNOTATION = 'batch.kubernetes.io/job-completion-index';
const FIRST_BACK_OFF_MS = 10_000;
const LAST_BACK_OFF_MS = 600_000;

const REACHED = { reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' };

/** What the pods of a Job say at one moment. */
interface Census {
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  readonly succeeded: number;
  readonly failed: number;
  readonly completedIndexes: ReadonlySet<number>;
  /** Finished pods that are not in the status' counts yet. */
  readonly uncounted: { readonly succeeded: string[]; readonly failed: string[] };
}

export function isJobFinished(job: Job): Condition | undefined {
  return job.status?.conditions?.find(
    (condition) => (condition.type === 'Complete' || condition.type === 'Failed') && condition.status === 'True',
  );
}

function indexOf(pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[INDEX_ANNOTATION];
  return text === undefined ? undefined : Number(text);
}

function isTracked(pod: Pod): boolean {
  return pod.metadata.finalizers?.includes(TRACKING_FINALIZER) === true;
}

/** Runs pods until enough of them have succeeded or too many have failed. No finished pod is ever counted twice or lost: see `settle`. */
export function startJobController(context: ControllerContext): RunningController {
  const { client, clock, informers, log, random } = context;
  const jobs = informers.of('batch', 'v1', 'jobs');
  const pods = informers.of('', 'v1', 'pods');
  const events = eventRecorder(context, 'job-controller');
  const queue = new WorkQueue({ name: 'Job controller', clock, log, process });

  async function process(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const job = jobs.get(namespace, name) as Job | undefined;
    if (!job) {
      return;
    }
    if (isJobFinished(job) || job.metadata.deletionTimestamp !== undefined) {
      await releasePods(job);
      await expire(job);
      return;
    }
    const claimed = await claim<Pod>(client, job, job.spec.selector ?? {}, pods, PODS);
    const census = count(job, claimed);
    const status: JobStatus = { ...job.status };
    if (job.spec.suspend !== true && status.startTime === undefined) {
      status.startTime = kubeTime(clock.now());
    }
    const goal = await decide(job, status, census);
    await settle(job, status, census, goal);
  }

  function count(job: Job, claimed: readonly Pod[]): Census {
    const known = job.status?.uncountedTerminatedPods ?? {};
    const uncounted = { succeeded: [...(known.succeeded ?? [])], failed: [...(known.failed ?? [])] };
    const completedIndexes = parseIndexes(job.status?.completedIndexes);
    for (const pod of claimed.filter(isTracked)) {
      const uid = pod.metadata.uid!;
      const isNew = !uncounted.succeeded.includes(uid) && !uncounted.failed.includes(uid);
      if (isNew && pod.status?.phase === 'Succeeded') {
        uncounted.succeeded.push(uid);
      } else if (isNew && (pod.status?.phase === 'Failed' || pod.metadata.deletionTimestamp !== undefined)) {
        uncounted.failed.push(uid);
      }
      if (pod.status?.phase === 'Succeeded' && indexOf(pod) !== undefined) {
        completedIndexes.add(indexOf(pod)!);
      }
    }
    const isIndexed = job.spec.completionMode === 'Indexed';
    return {
      pods: claimed,
      active: claimed.filter(isPodActive),
      succeeded: isIndexed ? completedIndexes.size : (job.status?.succeeded ?? 0) + uncounted.succeeded.length,
      failed: (job.status?.failed ?? 0) + uncounted.failed.length,
      completedIndexes,
      uncounted,
    };
  }

  /** Makes and deletes pods; returns the condition the Job is heading for, if it is about to end. */
  async function decide(job: Job, status: JobStatus, census: Census): Promise<Condition | undefined> {
    const verdict = existingTarget(job) ?? failureOf(job, status, census) ?? successOf(job, census);
    if (verdict) {
      await deletePods(job, census.active);
      return verdict;
    }
    const isSuspended = job.spec.suspend === true;
    const condition = job.status?.conditions?.find((each) => each.type === 'Suspended');
    if (isSuspended) {
      await deletePods(job, census.active);
      if (condition?.status !== 'True') {
        delete status.startTime;
        status.conditions = replace(
          job.status?.conditions,
          ending('Suspended', 'True', 'JobSuspended', 'Job suspended'),
        );
        events.event(job, 'Normal', 'Suspended', 'Job suspended');
      }
      return undefined;
    }
    if (condition?.status === 'True') {
      status.startTime = kubeTime(clock.now());
      status.conditions = replace(job.status?.conditions, ending('Suspended', 'False', 'JobResumed', 'Job resumed'));
      events.event(job, 'Normal', 'Resumed', 'Job resumed');
    }
    await manage(job, census);
    return undefined;
  }

  function ending(type: string, verdict: string, reason: string, message: string): Condition {
    const now = kubeTime(clock.now());
    return { type, status: verdict, lastProbeTime: now, lastTransitionTime: now, reason, message };
  }

  function replace(conditions: readonly Condition[] | undefined, next: Condition): Condition[] {
    return [...(conditions ?? []).filter((each) => each.type !== next.type), next];
  }

  /** A Job that has once said how it ends does not change its mind. */
  function existingTarget(job: Job): Condition | undefined {
    return job.status?.conditions?.find(
      (each) => ['SuccessCriteriaMet', 'FailureTarget'].includes(each.type) && each.status === 'True',
    );
  }

  function failureOf(job: Job, status: JobStatus, census: Census): Condition | undefined {
    const limit = job.spec.backoffLimit ?? 6;
    const restarts = census.active
      .flatMap((pod) => pod.status?.containerStatuses ?? [])
      .reduce((total, container) => total + container.restartCount, 0);
    const isOnFailure = job.spec.template.spec.restartPolicy === 'OnFailure';
    if (census.failed > limit || (isOnFailure && restarts > 0 && restarts >= limit)) {
      return ending('FailureTarget', 'True', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit');
    }
    const deadline = job.spec.activeDeadlineSeconds;
    if (deadline !== undefined && status.startTime !== undefined && job.spec.suspend !== true) {
      const left = Date.parse(status.startTime) + deadline * 1_000 - clock.now();
      if (left <= 0) {
        return ending('FailureTarget', 'True', 'DeadlineExceeded', 'Job was active longer than specified deadline');
      }
      queue.addAfter(objectKey(job), left);
    }
    return undefined;
  }

  function successOf(job: Job, census: Census): Condition | undefined {
    const { completions } = job.spec;
    const isDone =
      completions === undefined
        ? census.succeeded > 0 && census.active.length === 0
        : census.succeeded >= completions && job.spec.suspend !== true;
    return isDone ? ending('SuccessCriteriaMet', 'True', REACHED.reason, REACHED.message) : undefined;
  }

  async function deletePods(job: Job, surplus: readonly Pod[]): Promise<void> {
    for (const pod of surplus) {
      await deletePod(client, pod);
      events.event(job, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
    }
  }

  async function manage(job: Job, census: Census): Promise<void> {
    const parallelism = job.spec.parallelism ?? 1;
    const { completions } = job.spec;
    const wanted =
      completions === undefined
        ? census.succeeded > 0
          ? Math.min(census.active.length, parallelism)
          : parallelism
        : Math.min(parallelism, completions - census.succeeded);
    const difference = wanted - census.active.length;
    if (difference < 0) {
      await deletePods(job, rankForDeletion(census.active).slice(0, -difference));
      return;
    }
    const backOff = msOfBackOff(census);
    if (difference > 0 && backOff > 0) {
      queue.addAfter(objectKey(job), backOff);
      return;
    }
    const indexes = freeIndexes(job, census);
    for (let made = 0; made < difference; made++) {
      const pod = await createPod(
        client,
        newPod(job, job.spec.completionMode === 'Indexed' ? indexes[made] : undefined),
      );
      events.event(job, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
    }
  }

  /** After a failure the next pod waits 10 s, twice as long after each further one, up to 10 minutes. */
  function msOfBackOff(census: Census): number {
    const failures = census.pods.filter((pod) => pod.status?.phase === 'Failed').map(finishedAt);
    const lastSuccess = Math.max(0, ...census.pods.filter((pod) => pod.status?.phase === 'Succeeded').map(finishedAt));
    const recent = failures.filter((time) => time > lastSuccess);
    if (recent.length === 0) {
      return 0;
    }
    const delay = Math.min(LAST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(recent.length - 1, 10));
    return Math.max(...recent) + delay - clock.now();
  }

  function finishedAt(pod: Pod): number {
    const times = (pod.status?.containerStatuses ?? []).map((container) =>
      Date.parse(String(container.state?.['terminated']?.['finishedAt'] ?? '')),
    );
    const known = times.filter((time) => !Number.isNaN(time));
    return known.length > 0 ? Math.max(...known) : Date.parse(pod.metadata.creationTimestamp ?? '');
  }

  function freeIndexes(job: Job, census: Census): number[] {
    const taken = new Set([...census.completedIndexes, ...census.active.map(indexOf)]);
    return Array.from({ length: job.spec.completions ?? 0 }, (_, index) => index).filter((index) => !taken.has(index));
  }

  function newPod(job: Job, index: number | undefined): Pod {
    const finalizers = [TRACKING_FINALIZER];
    if (index === undefined) {
      return podFrom(job.spec.template, job, { generateName: `${job.metadata.name}-`, finalizers });
    }
    const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
    const suffix = Array.from({ length: 5 }, () => alphabet[Math.floor(random.next() * alphabet.length)]).join('');
    const pod = podFrom(job.spec.template, job, {
      name: `${job.metadata.name}-${index}-${suffix}`,
      finalizers,
      annotations: { [INDEX_ANNOTATION]: String(index) },
      labels: { [INDEX_ANNOTATION]: String(index) },
    });
    pod.spec.hostname ??= `${job.metadata.name}-${index}`;
    const fieldRef = { apiVersion: 'v1', fieldPath: `metadata.labels['${INDEX_ANNOTATION}']` };
    for (const container of [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]) {
      const env = (container['env'] as { name: string }[] | undefined) ?? [];
      if (!env.some((each) => each.name === 'JOB_COMPLETION_INDEX')) {
        container['env'] = [...env, { name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef } }];
      }
    }
    return pod;
  }

  /**
   * Counts finished pods in an order a crash cannot spoil: first their uids go into the status, then their finalizer goes,
   * then they move from the uids to the counts.
   */
  async function settle(job: Job, status: JobStatus, census: Census, goal: Condition | undefined): Promise<void> {
    const now = (jobs.get(job.metadata.namespace, job.metadata.name!) as Job | undefined) ?? job;
    const live = [...(pods.list(job.metadata.namespace) as Iterable<Pod>)].filter(
      (pod) => controllerOf(pod)?.uid === job.metadata.uid,
    );
    const active = live.filter(isPodActive);
    const { uncounted } = census;
    status.active = active.length || undefined;
    status.ready = active.filter(isPodReady).length;
    status.terminating = live.filter(
      (pod) => !isPodFinished(pod) && pod.metadata.deletionTimestamp !== undefined,
    ).length;
    status.uncountedTerminatedPods = {
      ...(uncounted.succeeded.length > 0 ? { succeeded: uncounted.succeeded } : {}),
      ...(uncounted.failed.length > 0 ? { failed: uncounted.failed } : {}),
    };
    if (job.spec.completionMode === 'Indexed') {
      status.completedIndexes = formatIndexes(census.completedIndexes) || undefined;
    }
    if (goal && !status.conditions?.some((each) => each.type === goal.type)) {
      status.conditions = [...(status.conditions ?? []), goal];
    }
    const first = await writeStatus(now, status);
    const isCounting = uncounted.succeeded.length + uncounted.failed.length > 0;
    if (!isCounting && !goal) {
      return;
    }
    for (const uid of [...uncounted.succeeded, ...uncounted.failed]) {
      const pod = live.find((each) => each.metadata.uid === uid);
      if (pod) {
        await untrack(pod);
      }
    }
    const isIndexed = job.spec.completionMode === 'Indexed';
    const counted: JobStatus = {
      ...first.status,
      succeeded: (isIndexed ? census.completedIndexes.size : census.succeeded) || undefined,
      failed: census.failed || undefined,
      uncountedTerminatedPods: {},
    };
    const isOver = goal !== undefined && active.length === 0;
    if (isOver) {
      const type = goal.type === 'SuccessCriteriaMet' ? 'Complete' : 'Failed';
      counted.conditions = [...(counted.conditions ?? []), ending(type, 'True', goal.reason!, goal.message!)];
      if (type === 'Complete') {
        counted.completionTime = kubeTime(clock.now());
      }
    }
    await writeStatus(first, counted);
    if (isOver && goal.type === 'SuccessCriteriaMet') {
      events.event(job, 'Normal', 'Completed', 'Job completed');
    } else if (isOver) {
      events.event(job, 'Warning', goal.reason!, goal.message!);
    }
  }

  async function writeStatus(job: Job, status: JobStatus): Promise<Job> {
    if (stableJson(status) === stableJson(job.status ?? {})) {
      return job;
    }
    const { namespace, name } = job.metadata;
    return (await client.update({ ...JOBS, namespace, name: name!, subresource: 'status' }, { ...job, status })) as Job;
  }

  async function untrack(pod: Pod): Promise<void> {
    const latest = (pods.get(pod.metadata.namespace, pod.metadata.name!) as Pod | undefined) ?? pod;
    if (!isTracked(latest)) {
      return;
    }
    const { namespace, name, uid, finalizers } = latest.metadata;
    const kept = finalizers!.filter((finalizer) => finalizer !== TRACKING_FINALIZER);
    try {
      await client.patch({ ...PODS, namespace, name: name! }, 'merge', {
        metadata: { uid: uid!, finalizers: kept.length > 0 ? kept : null },
      });
    } catch (error) {
      if (!(error instanceof ApiError && error.status.code === 404)) {
        throw error;
      }
    }
  }

  /** Nothing may hold back the pods of a Job that is over. */
  async function releasePods(job: Job): Promise<void> {
    for (const pod of Array.from(pods.list(job.metadata.namespace) as Iterable<Pod>)) {
      if (controllerOf(pod)?.uid === job.metadata.uid && isTracked(pod)) {
        await untrack(pod);
      }
    }
  }

  async function expire(job: Job): Promise<void> {
    const finished = isJobFinished(job);
    const ttl = job.spec.ttlSecondsAfterFinished;
    if (!finished || ttl === undefined || job.metadata.deletionTimestamp !== undefined) {
      return;
    }
    const left = Date.parse(finished.lastTransitionTime!) + ttl * 1_000 - clock.now();
    if (left > 0) {
      queue.addAfter(objectKey(job), left);
      return;
    }
    const { namespace, name, uid } = job.metadata;
    await client.delete(
      { ...JOBS, namespace, name: name! },
      { propagationPolicy: 'Foreground', preconditions: { uid: uid! } },
    );
  }

  const unsubscribers = [
    jobs.subscribe(({ object, deleted }) => {
      if (!deleted) {
        queue.add(objectKey(object));
      }
    }),
    pods.subscribe(({ object, deleted }) => {
      const controller = controllerOf(object);
      if (controller?.kind === 'Job') {
        const isOrphan = !jobs.get(object.metadata.namespace, controller.name);
        if (isOrphan && !deleted && isTracked(object as Pod)) {
          // Its Job is gone: nobody will count this pod any more.
          void untrack(object as Pod).catch((error: unknown) => log(`Job controller: ${String(error)}`));
        }
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
