import { seconds } from '@slipway/kube';

import type { OperationState } from '../../argo/application.ts';
import { hasSameAim } from '../aim.ts';
import type { Comparison } from '../compare.ts';
import { readOperation } from '../read-operation.ts';
import type { Aim, SyncRun } from '../run.ts';

/** What is to be done about the differences. */
export type Decision =
  /** Somebody asked for what cannot be done, or wants the operation to end: it is over, and `message` says why. */
  | { readonly do: 'end'; readonly phase: 'Error' | 'Failed'; readonly message: string }
  /** An operation that began earlier goes on. */
  | { readonly do: 'continue' }
  | { readonly do: 'begin'; readonly initiatedBy: { automated?: boolean; username?: string }; readonly prune: boolean }
  /** Nothing now; `error` for people, `afterMs` when there is something to wait for. */
  | { readonly do: 'nothing'; readonly error?: string; readonly afterMs?: number };

/** How soon after a synchronization a change by somebody else is taken back: two programs at odds must not race. */
const selfHealPauseMs = seconds(5);

/** Whether to synchronize, by what somebody asked for and what the policy says. */
export function decide(run: SyncRun, aim: Aim, comparison: Comparison): Decision {
  const { spec } = aim;
  const state = run.application.status?.operationState;
  if (state?.phase === 'Terminating') return { do: 'end', phase: 'Failed', message: 'operation terminated' };
  if (state?.phase === 'Running') {
    // Argo CD, which is gone now, may have begun it.
    const { refused: isNotOurs } = readOperation(state.operation);
    if (isNotOurs !== undefined) return { do: 'end', phase: 'Error', message: isNotOurs };
  }
  const { asked, refused = otherRevision(aim) } = spec.operation;
  if (refused !== undefined && state?.phase !== 'Running') return { do: 'end', phase: 'Error', message: refused };
  if (asked?.sync !== undefined && refused === undefined) {
    const { initiatedBy = {}, sync } = asked;
    return { do: 'begin', initiatedBy: { ...initiatedBy }, prune: sync.prune ?? false };
  }
  // What somebody pushed meanwhile is what they want: an operation that waits for a broken state must not hold it up.
  if (state?.phase === 'Running' && hasSameAim(state, aim)) return { do: 'continue' };
  const { automated } = spec.syncPolicy ?? {};
  if (!automated || automated.enabled === false)
    return state?.phase === 'Running' ? { do: 'continue' } : { do: 'nothing' };
  const prune = automated.prune ?? false;
  const hasWork =
    comparison.different.size > 0 ||
    (prune && comparison.extra.some(({ mayGo, hook, isIgnored }) => mayGo && !hook && !isIgnored));
  if (!hasWork && state?.phase !== 'Running') return { do: 'nothing' };
  if (comparison.objects.length === 0 && comparison.extra.length > 0 && prune && !(automated.allowEmpty ?? false))
    return {
      do: 'nothing',
      error:
        'the source has no objects any more and auto-sync would remove all of them; set allowEmpty if that is meant',
    };
  return state && hasSameAim(state, aim) ? again(run, state, automated.selfHeal ?? false, prune) : begin(prune);
}

/** What is synchronized is what the Application says; another revision has to be said there. */
function otherRevision({ spec, sources, commits }: Aim): string | undefined {
  const { revision, revisions } = spec.operation.asked?.sync ?? {};
  const asked = revision ? [revision] : (revisions ?? []);
  const isOther = asked.some((text, index) => text !== commits[index] && text !== sources[index]?.targetRevision);
  return isOther
    ? `operation.sync.revision: is not what ${asked.length > 1 ? 'sources say' : 'the source says'}; change targetRevision`
    : undefined;
}

/** This very state was synchronized before. */
function again(run: SyncRun, state: OperationState, selfHeal: boolean, prune: boolean): Decision {
  const { clock } = run.context;
  const since = clock.now() - Date.parse(state.finishedAt ?? state.startedAt);
  if (state.phase === 'Succeeded') {
    if (!selfHeal) return { do: 'nothing' };
    return since >= selfHealPauseMs ? begin(prune) : { do: 'nothing', afterMs: selfHealPauseMs - since };
  }
  const { refreshMs } = run.settings;
  if (since >= refreshMs) return begin(prune);
  return {
    do: 'nothing',
    error: `the last attempt failed: ${state.message ?? 'for an unknown reason'}; it is tried again when the source changes, or later`,
    afterMs: refreshMs - since,
  };
}

function begin(prune: boolean): Decision {
  return { do: 'begin', initiatedBy: { automated: true }, prune };
}
