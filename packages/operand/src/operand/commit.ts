import type { Revisions } from './revisions.ts';
import type { OperandRun } from './run.ts';
import { activeReady, writeStatus } from './status.ts';

/**
 * Once the deletion of the old set has begun, the roll to the new one is committed: the old set must be gone and the new one
 * recorded as active before a newer wish counts. Otherwise a change back to the old set, made while it is being deleted,
 * would delete the new set as "pending", the only owner the shared objects have left.
 */
export async function settleCommittedRoll(run: OperandRun, revisions: Revisions): Promise<'go' | 'wait'> {
  const { created, ready, desired, byName } = revisions;
  const wanted = byName.get(desired);
  if (ready !== '' && created !== ready) {
    const old = byName.get(ready);
    if (old?.ours && old.terminating) return 'wait';
    if (!old?.ours) {
      const next = byName.get(created);
      const latestReady = next?.ours && next.ready && !next.terminating ? created : '';
      await writeStatus(run, {
        latestReadyActiveOperand: latestReady,
        conditions: [activeReady(run, desired, { created, ready: latestReady })],
      });
      return 'wait';
    }
  }
  // A set that is being deleted is never taken for ready; it has to be gone before it can be made anew.
  return wanted?.ours && wanted.terminating ? 'wait' : 'go';
}
