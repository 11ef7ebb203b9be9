import { kubeTime, seconds, type ObjectKey } from '@slipway/kube';
import { requeueAfter, type ReconcileContext, type Requeue } from '@slipway/runtime';

import {
  Application,
  type ApplicationCondition,
  type ApplicationStatus,
  type HealthCode,
} from '../argo/application.ts';
import { argo } from '../argo/words.ts';
import { GitError } from '../git/git-error.ts';
import { aimFields, comparedTo } from './aim.ts';
import { compare, type Comparison } from './compare.ts';
import { deleteApplication } from './delete-application.ts';
import { keepDeletionFinalizers } from './deletion-hooks.ts';
import { imagesOf } from './images.ts';
import { beginOperation, endOperation } from './operation/begin.ts';
import { decide } from './operation/decide.ts';
import { operationChange, untilRetryMs } from './operation/finish.ts';
import { removeFinishedHooks } from './operation/hooks.ts';
import { Results } from './operation/outcome.ts';
import { runOperation } from './operation/run-operation.ts';
import { readSpec } from './read-spec.ts';
import { readTargets, type Targets } from './read-targets.ts';
import { applicationMembership, type SyncMemory, type SyncRun, type SyncSettings } from './run.ts';
import { SourceError } from './source/source-error.ts';
import { withConditions, writeStatus, type ConditionTexts } from './status.ts';

/** How soon to look at a running operation again; a change of what it waits for comes first. */
const waitMs = seconds(2);
/** How soon to try a source again that could not be read. */
const afterErrorMs = seconds(30);

/** What each pass says anew. */
const ownConditions: readonly ApplicationCondition['type'][] = [
  'InvalidSpecError',
  'ComparisonError',
  'SyncError',
  'SharedResourceWarning',
  // No longer said; one that an older version said goes.
  'ExcludedResourceWarning',
];

/**
 * Brings one Application a step further. Everything that is decided is decided from the Application and the cluster, so the process may die
 * anywhere and the next pass goes on from there.
 */
export async function reconcileApplication(
  context: ReconcileContext,
  key: ObjectKey,
  memory: SyncMemory,
  settings: SyncSettings,
): Promise<Requeue | undefined> {
  const { client, signal } = context;
  const application = await client.get(Application, key, { signal });
  if (!application) return undefined;
  const membership = applicationMembership(application);
  const run: SyncRun = { context, client, settings, memory, application, name: key.name, membership };

  // 1. An Application that is to go takes along what it brought.
  if (application.metadata.deletionTimestamp !== undefined) return await deleteApplication(run);
  if (application.metadata.annotations?.[argo.skipReconcile] === 'true') return undefined;
  if (application.metadata.annotations?.[argo.refresh] !== undefined) memory.sources.forget();

  // 2. Fetch and render what it wants.
  let targets: Targets;
  try {
    targets = await readTargets(run, readSpec(application));
  } catch (error) {
    return await sourceFailed(run, error);
  }
  await keepDeletionFinalizers(run, targets);
  await memory.watch.followKindsOf(
    key,
    client,
    [...targets.objects, ...targets.hooks].map(({ object }) => object),
  );

  // 3. Compare it with the cluster.
  let comparison = await compare(run, targets);

  // 4. Decide what to do about it, and write down what is about to be brought.
  const decision = decide(run, targets.aim, comparison);
  if (decision.do === 'begin') await beginOperation(run, targets, comparison, decision);
  if (decision.do === 'end') await endOperation(run, decision);

  // 5. Go on with the operation.
  let change: Partial<ApplicationStatus> = {};
  const pauseMs = untilRetryMs(run, targets.aim);
  const isRunning = run.application.status?.operationState?.phase === 'Running';
  if (isRunning && pauseMs === 0) {
    if (decision.do === 'begin') comparison = await compare(run, targets);
    const results = new Results();
    const outcome = await runOperation(run, targets.aim.spec, comparison, results);
    change = await operationChange(run, targets, comparison, outcome, results);
    // Kinds that the sources define themselves can be watched only now.
    await memory.watch.followKindsOf(
      key,
      client,
      targets.objects.map(({ object }) => object),
    );
    comparison = await compare(run, targets);
  }

  // 6. Say how it is.
  const error = decision.do === 'nothing' ? decision.error : undefined;
  await writeStatus(run, { ...statusOf(run, targets, comparison, error), ...change });

  // 7. Take away hooks that are done.
  await removeFinishedHooks(run, comparison.hooks);

  const phase = run.application.status?.operationState?.phase;
  const retryMs = untilRetryMs(run, targets.aim);
  if (phase === 'Running') return requeueAfter(retryMs > 0 ? retryMs : waitMs);
  // What ended may make way for what the policy wants.
  if (decision.do === 'end') return requeueAfter(waitMs);
  const afterMs = decision.do === 'nothing' ? decision.afterMs : undefined;
  return requeueAfter(Math.min(settings.refreshMs, afterMs ?? settings.refreshMs));
}

function statusOf(
  run: SyncRun,
  { aim, sourceTypes }: Targets,
  comparison: Comparison,
  syncError: string | undefined,
): Partial<ApplicationStatus> {
  const { revision, revisions } = aimFields(aim);
  const texts: ConditionTexts = {
    ...(syncError === undefined ? {} : { SyncError: syncError }),
    ...(comparison.shared.length === 0
      ? {}
      : {
          SharedResourceWarning: `${comparison.shared.join(', ')} belongs to another Application; remove it from one`,
        }),
  };
  return {
    ...(revision === undefined ? { sourceTypes: [...sourceTypes] } : { sourceType: sourceTypes[0]! }),
    sync: {
      status: comparison.sync,
      ...(revision === undefined ? { revisions } : { revision }),
      comparedTo: comparedTo(aim),
    },
    health: healthNow(run, comparison.health),
    resources: [...comparison.resources],
    summary: { images: imagesOf(comparison.live.values()) },
    conditions: withConditions(run, ownConditions, texts),
  };
}

/** The time moves only when the health does. */
function healthNow({ application, context }: SyncRun, status: HealthCode): NonNullable<ApplicationStatus['health']> {
  const { health } = application.status ?? {};
  return health?.status === status ? health : { status, lastTransitionTime: kubeTime(context.clock.now()) };
}

/** What the source says cannot be known: everything on the cluster stays as it is. */
async function sourceFailed(run: SyncRun, error: unknown): Promise<Requeue> {
  const { context, settings } = run;
  if (!(error instanceof SourceError) && !(error instanceof GitError)) throw error;
  context.log.warn('the source of an application cannot be used', { application: run.name, error });
  const type = error instanceof SourceError && error.code === 'InvalidSpec' ? 'InvalidSpecError' : 'ComparisonError';
  const { sync, health } = run.application.status ?? {};
  await writeStatus(run, {
    sync: { ...sync, status: 'Unknown' },
    health: health ?? { status: 'Unknown' },
    conditions: withConditions(run, ownConditions, { [type]: error.message }),
  });
  return requeueAfter(error instanceof GitError ? Math.min(afterErrorMs, settings.refreshMs) : settings.refreshMs);
}
