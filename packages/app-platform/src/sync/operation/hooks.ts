import { isConflict, isTransient, type KubeObject } from '@slipway/kube';
import { healthOf, inParallel, keyOfRef, refText, withMembership } from '@slipway/manifests';

import type { HookType, OperationPhase } from '../../argo/application.ts';
import { readRef } from '../compare.ts';
import { fieldManager, type SyncRun } from '../run.ts';
import type { Target } from '../target.ts';
import { attemptAnnotation } from './attempt.ts';
import { done, type Results, type StepOutcome } from './outcome.ts';

const atATime = 8;

/** Makes the hooks of a moment and says how they are doing. One that this attempt has made already is not made again. */
export async function runHooks(
  run: SyncRun,
  hooks: readonly Target[],
  type: HookType,
  results: Results,
): Promise<StepOutcome> {
  const outcomes = await inParallel(hooks, atATime, async (hook): Promise<StepOutcome> => {
    const { phase, message } = await runHook(run, hook);
    results.note(hook.ref, hook.object.apiVersion, type, { hookType: type, hookPhase: phase, message });
    if (phase === 'Succeeded') return done;
    const text = `${type} hook ${refText(hook.ref)} ${message}`;
    return { state: phase === 'Running' ? 'waiting' : 'failed', message: text };
  });
  return outcomes.find(({ state }) => state === 'failed') ?? outcomes.find(({ state }) => state === 'waiting') ?? done;
}

async function runHook(run: SyncRun, hook: Target): Promise<{ phase: OperationPhase; message: string }> {
  const { client, context, membership } = run;
  const live = await readRef(run, hook.ref);
  if (live && isOfAttempt(live, hook)) return outcomeOf(live);
  if (live && (hook.deletePolicies.has('BeforeHookCreation') || runs(live))) {
    const gone = live.metadata.deletionTimestamp === undefined && (await removeHook(run, live));
    if (!gone) return { phase: 'Running', message: 'waits for the one before it to go' };
  }
  try {
    const made = await client.apply(withMembership(hook.object, membership), {
      fieldManager,
      force: true,
      signal: context.signal,
    });
    return outcomeOf(made);
  } catch (error) {
    // What passes by itself is no failure of the hook.
    if (context.signal.aborted || isConflict(error) || isTransient(error)) throw error;
    return { phase: 'Failed', message: `was refused: ${(error as Error).message}` };
  }
}

function isOfAttempt(live: KubeObject, { object }: Target): boolean {
  return live.metadata.annotations?.[attemptAnnotation] === object.metadata.annotations?.[attemptAnnotation];
}

/** Only what runs can end; everything else is done when it is there and well. */
function runs({ kind }: KubeObject): boolean {
  return kind === 'Job' || kind === 'Pod';
}

function outcomeOf(live: KubeObject): { phase: OperationPhase; message: string } {
  const { status, message } = healthOf(live);
  // A pod that is ready has only begun.
  const isOver = live.kind !== 'Pod' || (live['status'] as { phase?: string } | undefined)?.phase === 'Succeeded';
  if (status === 'Failed') return { phase: 'Failed', message };
  return { phase: status === 'Current' && isOver ? 'Succeeded' : 'Running', message };
}

/** Takes away the hooks whose policy says so. Only after the operation is over: one that is gone too soon would be made again. */
export async function removeFinishedHooks(run: SyncRun, hooks: readonly Target[]): Promise<void> {
  if (run.application.status?.operationState?.phase === 'Running') return;
  const doomed = hooks.filter(({ deletePolicies: p }) => p.has('HookSucceeded') || p.has('HookFailed'));
  await removeHooks(run, doomed, ({ deletePolicies }, phase) => {
    if (phase === 'Succeeded') return deletePolicies.has('HookSucceeded');
    return phase === 'Failed' && deletePolicies.has('HookFailed');
  });
}

/** Takes away what this attempt made, as far as it is chosen. Gives whether all of that is gone. */
export async function removeHooks(
  run: SyncRun,
  hooks: readonly Target[],
  isChosen: (hook: Target, phase: OperationPhase) => boolean = () => true,
): Promise<boolean> {
  const gone = await inParallel(hooks, atATime, async (hook) => {
    const live = await readRef(run, hook.ref);
    if (!live || !isOfAttempt(live, hook) || !isChosen(hook, outcomeOf(live).phase)) return true;
    return live.metadata.deletionTimestamp === undefined && (await removeHook(run, live));
  });
  return gone.every(Boolean);
}

/** Gives whether it is gone. */
async function removeHook({ client, context }: SyncRun, live: KubeObject): Promise<boolean> {
  const { uid, namespace = '', name = '' } = live.metadata;
  const kind = await client.resolve(live.apiVersion, live.kind, { signal: context.signal });
  const result = await client.delete(kind, keyOfRef({ group: '', kind: live.kind, namespace, name }), {
    propagationPolicy: 'Background',
    preconditions: { uid: uid! },
    signal: context.signal,
  });
  return result?.state !== 'terminating';
}
