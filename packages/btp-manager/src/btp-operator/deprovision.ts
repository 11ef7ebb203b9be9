import { hasFinalizer, isConflict, isTransient } from '@slipway/kube';
import { requeueAfter, type Requeue } from '@slipway/runtime';

import { names } from '../names.ts';
import { hardDelete } from './hard-delete.ts';
import { keepAlive } from './provision.ts';
import { removeModule } from './remove-module.ts';
import type { BtpRun } from './run.ts';
import { countOf, listServiceResources } from './service-resources.ts';
import { orRefuse, reasonOf, setProgress, setReason, stateOf, timeText } from './status.ts';
import { softDelete } from './soft-delete.ts';

/** How soon to look again at something that is being deleted; the event of its end usually comes first. */
const soonMs = 2000;

/**
 * Steps 1 to 11 of deprovisioning, as far as they go now. Nothing in here waits: what takes time is waited for between two
 * reconciliations, with the beginning of the wait in the status, so that other objects get their turn and a restart changes
 * nothing.
 */
export async function deprovision(run: BtpRun): Promise<Requeue | undefined> {
  // Ours is done; finalizers of others keep the object.
  if (!hasFinalizer(run.btp, names.finalizer)) {
    const others = (run.btp.metadata.finalizers ?? []).join(', ');
    await setReason(run, 'Processing', `the module is removed; the object waits for ${others}`);
    return undefined;
  }

  // 1. Somebody has asked for the deletion. Service instances and bindings block it, unless it is forced.
  if (reasonOf(run.btp) !== 'ServiceInstancesAndBindingsNotCleaned' && stateOf(run.btp) !== 'Deleting')
    await setReason(run, 'HardDeleting', 'BtpOperator is to be deleted');
  if (reasonOf(run.btp) !== 'SoftDeleting') {
    if (await isBlocked(run)) {
      await keepAlive(run);
      return requeueAfter(run.settings.readyStateRequeueIntervalMs);
    }

    // 2. Hard delete: ask for the deletion of all bindings and instances.
    // 3. Look for what is left.
    const outcome = await hardDelete(run);
    if (outcome.state === 'waiting') return requeueAfter(outcome.lookAgainMs);

    // 4. Over time, or refused: soft delete.
    if (outcome.state === 'failed') {
      await setReason(run, 'SoftDeleting', `Being soft deleted: ${outcome.why}`);
    }
  }

  // 5. to 10. Soft delete.
  if (reasonOf(run.btp) === 'SoftDeleting')
    await softDelete(run).catch((error: unknown) => saySoftDeleteFailed(run, error));

  // 11. The resources of the module go, then the finalizer.
  const { clock } = run.context;
  if (run.btp.status?.removalStartedAt === undefined)
    await setProgress(run, { removalStartedAt: timeText(clock.now()) });
  const failed = 'Unable to remove installed resources: ';
  const removal = await orRefuse('ResourceRemovalFailed', () => removeModule(run), failed);
  if (removal.state === 'blocked') return requeueAfter(0);
  if (removal.state === 'waiting') {
    const { deleteRequestTimeoutMs } = run.settings;
    const startedMs = Date.parse(run.btp.status?.removalStartedAt ?? timeText(clock.now()));
    if (clock.now() < startedMs + deleteRequestTimeoutMs) return requeueAfter(soonMs);
    await setReason(run, 'ResourceRemovalFailed', failed + removal.what, { removalStartedAt: undefined });
    return requeueAfter(run.settings.processingStateRequeueIntervalMs);
  }
  await run.context.client.removeFinalizer(run.btp, names.finalizer);
  return undefined;
}

/** 10. A step that fails shows, and is tried again; what may pass by itself does not have to show. */
async function saySoftDeleteFailed(run: BtpRun, error: unknown): Promise<never> {
  run.context.signal.throwIfAborted();
  if (error instanceof Error && !(isTransient(error) || isConflict(error)))
    await setReason(run, 'SoftDeleting', `Being soft deleted: ${error.message}`);
  throw error;
}

/** Whether service instances or bindings forbid the deletion. Keeps their numbers in the message current. */
async function isBlocked(run: BtpRun): Promise<boolean> {
  const forced = run.btp.metadata.labels?.[names.forceDeleteLabel] === 'true';
  const found = await listServiceResources(run);
  if (!forced && countOf(found) > 0) {
    const { instances, bindings } = found;
    const text = `All service instances and bindings must be removed: ${instances.length} instance(s) and ${bindings.length} binding(s)`;
    await setReason(run, 'ServiceInstancesAndBindingsNotCleaned', text, {
      hardDeleteStartedAt: undefined,
      hardDeleteSeenAt: undefined,
      removalStartedAt: undefined,
    });
    return true;
  }
  if (reasonOf(run.btp) === 'ServiceInstancesAndBindingsNotCleaned') {
    await setReason(
      run,
      'HardDeleting',
      'BtpOperator is to be deleted after cleaning service instance and binding resources',
    );
  }
  return false;
}
