import { kubeTime } from '@slipway/kube';
import { refKey } from '@slipway/manifests';

import type { OperationState, ResourceStatus } from '../../argo/application.ts';
import { aimFields } from '../aim.ts';
import { hookResource, resourceRef, type Comparison } from '../compare.ts';
import type { Targets } from '../read-targets.ts';
import type { SyncRun } from '../run.ts';
import { writeStatus } from '../status.ts';
import { attemptOf, namedHooks, operationInfo } from './attempt.ts';
import type { Decision } from './decide.ts';
import { retryPlan } from './retry.ts';

/**
 * Writes down that an operation begins, and what it may bring to the cluster. Before anything is brought: whatever happens after this line,
 * a later pass finds all of it again, to go on or to take it away.
 */
export async function beginOperation(
  run: SyncRun,
  { aim, hooks }: Targets,
  comparison: Comparison,
  { initiatedBy, prune }: Extract<Decision, { do: 'begin' }>,
): Promise<void> {
  const { clock, random, log } = run.context;
  const { revision, revisions } = aimFields(aim);
  const options = aim.spec.operation.asked?.sync?.syncOptions ?? aim.spec.syncPolicy?.syncOptions;
  const state: OperationState = {
    phase: 'Running',
    message: 'the operation has begun',
    startedAt: kubeTime(clock.now()),
    operation: {
      initiatedBy,
      sync: {
        ...(revision === undefined ? { revisions } : { revision }),
        prune,
        ...(options ? { syncOptions: options } : {}),
      },
      retry: { limit: retryPlan(aim.spec).limit },
      info: operationInfo(random.uuid()),
    },
    syncResult: { ...aimFields(aim) },
  };
  log.info('synchronizing', {
    application: run.name,
    revision: aim.commits.join(','),
    automated: initiatedBy.automated,
  });
  await writeStatus(run, {
    operationState: state,
    resources: mergeResources(run.application.status?.resources ?? [], [
      ...comparison.resources,
      ...namedHooks(hooks, attemptOf(state)).map(hookResource),
    ]),
  });
}

/** Writes down that an operation is over before it has done anything, or all it should. What it was about stays open. */
export async function endOperation(run: SyncRun, { phase, message }: Extract<Decision, { do: 'end' }>): Promise<void> {
  const now = kubeTime(run.context.clock.now());
  const { operationState: state } = run.application.status ?? {};
  const begun: OperationState =
    phase === 'Failed' && state
      ? state
      : { phase, startedAt: now, operation: { initiatedBy: {}, sync: {} }, syncResult: {} };
  run.context.log.warn('an operation is over', { application: run.name, reason: message });
  await writeStatus(run, { operationState: { ...begun, phase, message, finishedAt: now } });
}

/** Everything either knows; what the later says counts. */
export function mergeResources(earlier: readonly ResourceStatus[], later: readonly ResourceStatus[]): ResourceStatus[] {
  const merged = new Map([...earlier, ...later].map((resource) => [refKey(resourceRef(resource)), resource]));
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, resource]) => resource);
}
