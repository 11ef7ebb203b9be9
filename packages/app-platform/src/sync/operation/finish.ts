import { kubeTime } from '@slipway/kube';

import type { ApplicationStatus, HistoryEntry, OperationState } from '../../argo/application.ts';
import { aimFields } from '../aim.ts';
import { hookResource, type Comparison } from '../compare.ts';
import type { Targets } from '../read-targets.ts';
import type { Aim, SyncRun } from '../run.ts';
import { attemptOf, namedHooks } from './attempt.ts';
import { mergeResources } from './begin.ts';
import { runHooks } from './hooks.ts';
import type { Results, StepOutcome } from './outcome.ts';
import { retryDelayMs, retryPlan } from './retry.ts';

const usualHistory = 10;

/** What an operation's pass leaves in the status. */
export async function operationChange(
  run: SyncRun,
  targets: Targets,
  comparison: Comparison,
  outcome: StepOutcome,
  results: Results,
): Promise<Partial<ApplicationStatus>> {
  const { clock, log } = run.context;
  const { aim } = targets;
  const state = run.application.status!.operationState!;
  const now = kubeTime(clock.now());
  if (outcome.state === 'waiting') return { operationState: withResults(state, results, { message: outcome.message }) };
  if (outcome.state === 'done') {
    const message = 'successfully synced (all tasks run)';
    log.info('synchronized', { application: run.name, revision: aim.commits.join(',') });
    return {
      operationState: withResults(state, results, { phase: 'Succeeded', finishedAt: now, message }),
      history: withEntry(run, aim, state, now),
    };
  }
  log.warn('a synchronization failed', { application: run.name, reason: outcome.message });
  // Before the failure is written: after a crash the operation fails again and finds them made.
  await runHooks(
    run,
    comparison.hooks.filter(({ hooks }) => hooks.includes('SyncFail')),
    'SyncFail',
    results,
  );
  return failed(run, targets, comparison, outcome.message, results);
}

function failed(
  run: SyncRun,
  { aim, hooks }: Targets,
  comparison: Comparison,
  reason: string,
  results: Results,
): Partial<ApplicationStatus> {
  const { clock } = run.context;
  const state = run.application.status!.operationState!;
  const plan = retryPlan(aim.spec);
  const { retryCount = 0 } = state;
  const finishedAt = kubeTime(clock.now());
  if (plan.limit >= 0 && retryCount >= plan.limit) {
    const message = retryCount === 0 ? reason : `${reason} (retried ${retryCount} times)`;
    return { operationState: withResults(state, results, { phase: 'Failed', finishedAt, message }) };
  }
  const next: OperationState = { ...state, retryCount: retryCount + 1 };
  const at = kubeTime(clock.now() + retryDelayMs(plan, next));
  return {
    operationState: withResults(next, results, {
      finishedAt,
      message: `${reason}. Retrying attempt #${retryCount + 1} at ${at}`,
    }),
    // The next attempt makes its hooks anew, some under names of its own.
    resources: mergeResources(comparison.resources, namedHooks(hooks, attemptOf(next)).map(hookResource)),
  };
}

/** How long an operation that failed waits for its next attempt; nothing when it need not. */
export function untilRetryMs(run: SyncRun, aim: Aim): number {
  const { operationState: state } = run.application.status ?? {};
  if (!state?.finishedAt || state.phase !== 'Running') return 0;
  const due = Date.parse(state.finishedAt) + retryDelayMs(retryPlan(aim.spec), state);
  return Math.max(0, due - run.context.clock.now());
}

function withResults(state: OperationState, results: Results, change: Partial<OperationState>): OperationState {
  // Everything else is found as it was left; what an earlier pass pruned is nowhere to be found.
  const pruned = (state.syncResult?.resources ?? []).filter(
    ({ status, ...resource }) => status === 'Pruned' && !results.has(resource),
  );
  return { ...state, ...change, syncResult: { ...state.syncResult, resources: [...pruned, ...results.all] } };
}

function withEntry(run: SyncRun, aim: Aim, state: OperationState, deployedAt: string): HistoryEntry[] {
  const history = run.application.status?.history ?? [];
  const limit = aim.spec.revisionHistoryLimit ?? usualHistory;
  const entry: HistoryEntry = {
    id: (history.at(-1)?.id ?? -1) + 1,
    ...aimFields(aim),
    deployStartedAt: state.startedAt,
    deployedAt,
    initiatedBy: state.operation.initiatedBy ?? {},
  };
  return limit <= 0 ? [] : [...history, entry].slice(-limit);
}
