import {
  isConflict,
  isConnectionFailure,
  isServerUnavailable,
  isTimeout,
  isTooManyRequests,
  type Kind,
} from '@slipway/kube';

import { ServiceBinding, ServiceInstance, type ServiceResource } from '../api.ts';
import type { BtpRun } from './run.ts';
import { countOf, listServiceResources } from './service-resources.ts';
import { setProgress, timeText } from './status.ts';

export type HardDeleteOutcome =
  | { readonly state: 'done' }
  | { readonly state: 'waiting'; readonly lookAgainMs: number }
  | { readonly state: 'failed'; readonly why: string };

/**
 * Steps 2 and 3: asks for the deletion of all bindings and instances and looks whether they are gone. The time limit counts
 * from the first try, which is kept in the status.
 */
export async function hardDelete(run: BtpRun): Promise<HardDeleteOutcome> {
  const { hardDeleteCheckIntervalMs } = run.settings;
  try {
    const found = await listServiceResources(run);
    if (countOf(found) === 0) return { state: 'done' };
    const leftMs = await timeLeftMs(run);
    const what = `${found.instances.length} instance(s) and ${found.bindings.length} binding(s) are left`;
    if (leftMs <= 0) return { state: 'failed', why: `${what} after the time limit of the hard delete` };
    await askForDeletion(run, ServiceBinding, found.bindings);
    await askForDeletion(run, ServiceInstance, found.instances);
    if (countOf(await listServiceResources(run)) === 0) return { state: 'done' };
    return { state: 'waiting', lookAgainMs: Math.min(leftMs, hardDeleteCheckIntervalMs) };
  } catch (error) {
    run.context.signal.throwIfAborted();
    if (isPassing(error)) throw error;
    return { state: 'failed', why: error instanceof Error ? error.message : String(error) };
  }
}

/** How many times within the time limit it is noted that somebody looked. */
const notes = 20;

/**
 * What is left of the time limit. Time in which nobody could look does not count (the API server was out of reach, or no manager
 * ran): the service operator had no chance then either, and what it does not delete is left in SAP BTP.
 */
async function timeLeftMs(run: BtpRun): Promise<number> {
  const { hardDeleteTimeoutMs, hardDeleteCheckIntervalMs } = run.settings;
  const { hardDeleteStartedAt, hardDeleteSeenAt } = run.btp.status ?? {};
  const nowMs = run.context.clock.now();
  const now = timeText(nowMs);
  const noteEveryMs = Math.max(hardDeleteCheckIntervalMs, hardDeleteTimeoutMs / notes);
  const unseenMs = nowMs - Date.parse(hardDeleteSeenAt ?? now);
  const awayMs = unseenMs > noteEveryMs + 2 * hardDeleteCheckIntervalMs ? unseenMs : 0;
  const startedMs = Date.parse(hardDeleteStartedAt ?? now) + awayMs;
  if (hardDeleteSeenAt === undefined || unseenMs >= noteEveryMs)
    await setProgress(run, { hardDeleteStartedAt: timeText(startedMs), hardDeleteSeenAt: now });
  return startedMs + hardDeleteTimeoutMs - nowMs;
}

/**
 * Failures that say nothing about the deletion: it is tried again, within the same time limit, because what a soft delete leaves
 * in SAP BTP has to be cleaned up by hand. A webhook that cannot be called is not one of them: without it nothing would ever go.
 */
function isPassing(error: unknown): boolean {
  return isConflict(error) || isTooManyRequests(error) || isServerUnavailable(error) || isConnectionFailure(error);
}

/** Only what nobody has asked to go yet: asking again every few seconds would be noise. */
async function askForDeletion(
  run: BtpRun,
  kind: Kind<ServiceResource>,
  found: readonly ServiceResource[],
): Promise<void> {
  const namespaces = new Set(
    found
      .filter((object) => object.metadata.deletionTimestamp === undefined)
      .map((object) => object.metadata.namespace!),
  );
  for (const namespace of namespaces) {
    try {
      await run.context.client.deleteCollection(kind, { namespace });
    } catch (error) {
      // The server may go on with a deletion after it stopped answering. What passes by itself is asked for again at the next
      // look, which a growing back-off would put off until nobody could say that time has passed.
      if (!isTimeout(error) && !isPassing(error)) throw error;
      run.context.log.info('asking for a deletion failed; trying again', { kind: kind.plural, namespace, error });
    }
  }
}
