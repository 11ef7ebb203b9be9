import { hasFinalizer, type ObjectKey } from '@slipway/kube';
import { requeueAfter, type ReconcileContext, type Requeue } from '@slipway/runtime';

import { BtpOperator } from '../api.ts';
import { managerMetrics } from '../metrics.ts';
import { names } from '../names.ts';
import { Refusal } from '../reasons.ts';
import { readSettings } from './configure.ts';
import { deprovision } from './deprovision.ts';
import { provision } from './provision.ts';
import { Redaction } from './redaction.ts';
import { isResponsible } from './responsible.ts';
import type { BtpRun, Workshop } from './run.ts';
import { ObjectGone, setReason, stateOf } from './status.ts';

/** Brings one BtpOperator as far as it gets now. The process may die anywhere; the next run goes on from what is stored. */
export async function reconcileBtpOperator(
  context: ReconcileContext,
  key: ObjectKey,
  workshop: Workshop,
): Promise<Requeue | undefined> {
  // 1. Somebody created, changed or deleted it, or something it depends on. Read from the server: decisions below delete objects.
  const btp = await context.client.get(BtpOperator, key);
  if (!btp) return undefined;
  const metrics = managerMetrics(context.metrics);
  const run: BtpRun = {
    context,
    workshop,
    settings: workshop.baseSettings,
    metrics,
    redaction: new Redaction(),
    btp,
  };
  try {
    // 2. and 3. Only one object represents the module.
    if (!(await isResponsible(run))) return undefined;
    return await reconcileResponsible(await configured(run));
  } catch (error) {
    if (error instanceof ObjectGone) return undefined;
    context.signal.throwIfAborted();
    if (!(error instanceof Refusal)) throw error;
    return await refuse(run, error);
  }
}

async function reconcileResponsible(run: BtpRun): Promise<Requeue | undefined> {
  if (run.btp.metadata.deletionTimestamp !== undefined) return await deprovision(run);

  // 4. A finalizer, before anything is made that it has to protect, and the first status.
  if (!hasFinalizer(run.btp, names.finalizer))
    run.btp = await run.context.client.addFinalizer(run.btp, names.finalizer);
  if (stateOf(run.btp) === undefined) await setReason(run, 'Initialized', 'Initialized');

  // 5. to 11.
  return await provision(run);
}

async function configured(run: BtpRun): Promise<BtpRun> {
  const { context, workshop, metrics } = run;
  try {
    workshop.lastSettings = await readSettings(context, workshop.baseSettings, metrics);
    return Object.assign(run, { settings: workshop.lastSettings });
  } catch (error) {
    context.signal.throwIfAborted();
    throw new Refusal('GettingConfigMapFailed', (error as Error).message, { cause: error });
  }
}

/** Tries of something that may pass by itself before it shows in the status. */
const quietTries = 3;

/** The refusal becomes the status. What may pass by itself is tried again soon, the rest when something changes or later. */
async function refuse(run: BtpRun, refusal: Refusal): Promise<Requeue> {
  const wasReady = stateOf(run.btp) === 'Ready';
  if (!refusal.passing || run.context.failures >= quietTries)
    await setReason(run, refusal.reason, refusal.message, { waitingSince: undefined, removalStartedAt: undefined });
  if (refusal.passing) throw new Error(run.redaction.apply(refusal.message));
  const { readyStateRequeueIntervalMs, processingStateRequeueIntervalMs } = run.settings;
  return requeueAfter(wasReady ? readyStateRequeueIntervalMs : processingStateRequeueIntervalMs);
}
