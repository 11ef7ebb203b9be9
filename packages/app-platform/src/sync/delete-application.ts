import { seconds } from '@slipway/kube';
import { requeueAfter, type Requeue } from '@slipway/runtime';

import { argo } from '../argo/words.ts';
import { removeResources } from './cascade.ts';
import { deletionFinalizers, removeDeletionHooks, runDeletionHooks } from './deletion-hooks.ts';
import type { StepOutcome } from './operation/outcome.ts';
import type { SyncRun } from './run.ts';
import { withConditions, writeStatus } from './status.ts';

const lookAgainMs = seconds(2);
const afterFailureMs = seconds(30);

interface DeletionStep {
  /** Which finalizer asks for it. */
  readonly isAskedBy: (finalizer: string) => boolean;
  readonly take: (run: SyncRun, finalizer: string) => Promise<StepOutcome>;
}

const { PreDelete: pre, PostDelete: post } = deletionFinalizers;

/** In Argo CD's order. */
const steps: readonly DeletionStep[] = [
  // 1. PreDelete hooks, to their end.
  { isAskedBy: (name) => name === pre.run, take: (run) => runDeletionHooks(run, 'PreDelete') },
  // 2. They are taken away.
  { isAskedBy: (name) => name === pre.cleanup, take: (run) => removeDeletionHooks(run, 'PreDelete') },
  // 3. What the Application brought.
  { isAskedBy: (name) => name === argo.cascade || name.startsWith(`${argo.cascade}/`), take: removeResources },
  // 4. PostDelete hooks, to their end.
  { isAskedBy: (name) => name === post.run, take: (run) => runDeletionHooks(run, 'PostDelete') },
  // 5. They are taken away.
  { isAskedBy: (name) => name === post.cleanup, take: (run) => removeDeletionHooks(run, 'PostDelete') },
];

/**
 * Lets an Application go, by the finalizers it has: each asks for one step and goes when that is done, so that after a crash, or when
 * Argo CD comes or goes, the deletion goes on where it was. Without any, everything stays.
 */
export async function deleteApplication(run: SyncRun): Promise<Requeue | undefined> {
  const { application, client, context } = run;
  const { finalizers = [] } = application.metadata;
  let left: readonly string[] = finalizers;
  for (const { isAskedBy, take } of steps) {
    const finalizer = left.find(isAskedBy);
    if (finalizer === undefined) continue;
    const outcome = await take(run, finalizer);
    if (outcome.state === 'failed') context.log.warn('an application cannot be removed', { application: run.name });
    if (outcome.state !== 'done') return await wait(run, finalizer, outcome);
    await client.removeFinalizer(application, finalizer, { signal: context.signal });
    left = left.filter((name) => name !== finalizer);
  }
  if (left.length < finalizers.length) context.log.info('removed an application', { application: run.name });
  return undefined;
}

async function wait(
  run: SyncRun,
  finalizer: string,
  { state, message }: Exclude<StepOutcome, { state: 'done' }>,
): Promise<Requeue> {
  const wayOut = `or remove the finalizer ${finalizer} to go on without`;
  await writeStatus(run, {
    conditions: withConditions(
      run,
      ['DeletionError'],
      state === 'failed' ? { DeletionError: `${message}, ${wayOut}` } : {},
    ),
  });
  return requeueAfter(state === 'failed' ? afterFailureMs : lookAgainMs);
}
