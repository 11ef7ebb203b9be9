import { kubeTime } from '../../clock.ts';
import type { Condition, Deployment, DeploymentStatus, ReplicaSet } from './kinds.ts';
import { resolvePercent } from './percent.ts';

export function replicasOf(object: { spec: { replicas?: number } } | undefined): number {
  return object ? (object.spec.replicas ?? 1) : 0;
}

export function sum(replicaSets: readonly ReplicaSet[], count: (replicaSet: ReplicaSet) => number | undefined): number {
  return replicaSets.reduce((total, replicaSet) => total + (count(replicaSet) ?? 0), 0);
}

export function isRollingUpdate(deployment: Deployment): boolean {
  return (deployment.spec.strategy?.type ?? 'RollingUpdate') === 'RollingUpdate';
}

/** How many pods a roll-out may have too many and too few. */
export function rollingLimits(deployment: Deployment): { surge: number; unavailable: number } {
  if (!isRollingUpdate(deployment) || replicasOf(deployment) === 0) {
    return { surge: 0, unavailable: 0 };
  }
  const replicas = replicasOf(deployment);
  const rolling = deployment.spec.strategy?.rollingUpdate ?? {};
  const surge = resolvePercent(rolling.maxSurge ?? '25%', replicas, 'up');
  const unavailable = resolvePercent(rolling.maxUnavailable ?? '25%', replicas, 'down');
  // Both zero would never move; validation forbids it for numbers, percentages can still round there.
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : Math.min(unavailable, replicas) };
}

/** Sets a condition as the real controller does: moved to the end when it changes, untouched when status and reason stay. */
export function withCondition(conditions: readonly Condition[], next: Condition): Condition[] {
  const old = conditions.find((condition) => condition.type === next.type);
  if (old?.status === next.status && old.reason === next.reason) {
    return [...conditions];
  }
  const lastTransitionTime = old?.status === next.status ? old.lastTransitionTime : next.lastTransitionTime;
  return [...conditions.filter((condition) => condition.type !== next.type), { ...next, lastTransitionTime }];
}

export function condition(type: string, status: string, reason: string, message: string, nowMs: number): Condition {
  const now = kubeTime(nowMs);
  return { type, status, lastUpdateTime: now, lastTransitionTime: now, reason, message };
}

/** Counts, and the Available condition. */
export function countStatus(
  deployment: Deployment,
  all: readonly ReplicaSet[],
  current: ReplicaSet | undefined,
  nowMs: number,
): DeploymentStatus {
  const available = sum(all, (each) => each.status?.availableReplicas);
  const unavailable = Math.max(0, sum(all, replicasOf) - available);
  const isAvailable = available >= replicasOf(deployment) - rollingLimits(deployment).unavailable;
  const verdict = isAvailable
    ? condition('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.', nowMs)
    : condition(
        'Available',
        'False',
        'MinimumReplicasUnavailable',
        'Deployment does not have minimum availability.',
        nowMs,
      );
  return {
    observedGeneration: deployment.metadata.generation,
    replicas: sum(all, (each) => each.status?.replicas) || undefined,
    updatedReplicas: current?.status?.replicas || undefined,
    readyReplicas: sum(all, (each) => each.status?.readyReplicas) || undefined,
    availableReplicas: available || undefined,
    unavailableReplicas: unavailable || undefined,
    terminatingReplicas: sum(all, (each) => each.status?.terminatingReplicas),
    conditions: withCondition(deployment.status?.conditions ?? [], verdict),
    collisionCount: deployment.status?.collisionCount,
  };
}

export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = replicasOf(deployment);
  return (
    (status.updatedReplicas ?? 0) === wanted &&
    (status.replicas ?? 0) === wanted &&
    (status.availableReplicas ?? 0) === wanted &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

function hasProgressed(before: DeploymentStatus, status: DeploymentStatus): boolean {
  const old = (each: DeploymentStatus) => (each.replicas ?? 0) - (each.updatedReplicas ?? 0);
  return (
    (status.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(status) < old(before) ||
    (status.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (status.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

/** Milliseconds until the roll-out counts as stuck; `undefined` when it never will. */
export function msUntilDeadline(deployment: Deployment, status: DeploymentStatus, nowMs: number): number | undefined {
  const progressing = status.conditions?.find((each) => each.type === 'Progressing');
  const deadline = deployment.spec.progressDeadlineSeconds;
  // The largest int32 is how "no deadline" is written.
  if (deadline === undefined || deadline === 2_147_483_647 || !progressing) {
    return undefined;
  }
  if (['NewReplicaSetAvailable', 'ProgressDeadlineExceeded', 'DeploymentPaused'].includes(progressing.reason!)) {
    return undefined;
  }
  return Date.parse(progressing.lastUpdateTime!) + deadline * 1_000 - nowMs;
}

/** The status with the Progressing condition brought up to date. */
export function progressStatus(
  deployment: Deployment,
  all: readonly ReplicaSet[],
  current: ReplicaSet | undefined,
  nowMs: number,
): DeploymentStatus {
  const status = countStatus(deployment, all, current, nowMs);
  const before = deployment.status ?? {};
  const progressing = before.conditions?.find((each) => each.type === 'Progressing');
  const wasComplete =
    (before.replicas ?? 0) === (before.updatedReplicas ?? 0) && progressing?.reason === 'NewReplicaSetAvailable';
  if (deployment.spec.progressDeadlineSeconds !== undefined && !wasComplete) {
    const subject = current ? `ReplicaSet "${current.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
    const set = (verdict: string, reason: string, message: string) => {
      status.conditions = withCondition(
        status.conditions!,
        condition('Progressing', verdict, reason, `${subject} ${message}`, nowMs),
      );
    };
    if (isComplete(deployment, status)) {
      set('True', 'NewReplicaSetAvailable', 'has successfully progressed.');
    } else if (hasProgressed(before, status)) {
      const next = condition('Progressing', 'True', 'ReplicaSetUpdated', `${subject} is progressing.`, nowMs);
      // Each step forward restarts the deadline, so the time moves even though status and reason stay.
      const lastTransitionTime = progressing?.status === 'True' ? progressing.lastTransitionTime : undefined;
      status.conditions = [
        ...status.conditions!.filter((each) => each.type !== 'Progressing'),
        { ...next, lastTransitionTime: lastTransitionTime ?? next.lastTransitionTime },
      ];
    } else {
      const left = msUntilDeadline(deployment, status, nowMs);
      if (left !== undefined && left <= 0) {
        set('False', 'ProgressDeadlineExceeded', 'has timed out progressing.');
      }
    }
  }
  const failed = all.flatMap((each) => each.status?.conditions ?? []).find((each) => each.type === 'ReplicaFailure');
  if (failed) {
    status.conditions = withCondition(status.conditions!, {
      ...condition('ReplicaFailure', 'True', failed.reason!, failed.message!, nowMs),
    });
  } else {
    status.conditions = status.conditions!.filter((each) => each.type !== 'ReplicaFailure');
  }
  return status;
}
