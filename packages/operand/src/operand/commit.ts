import { names } from '../names.ts';
import { operandCondition, type OperandCondition } from '../reasons.ts';
import type { Revision, Revisions } from './revisions.ts';
import type { OperandRun } from './run.ts';
import { activeReady, writeStatus } from './status.ts';

/**
 * Once the deletion of the old set has begun, the roll to the new one is committed: the old set must be gone and the new one
 * recorded as active before a newer wish counts. Otherwise a change back to the old set, made while it is being deleted,
 * would delete the new set as "pending", the only owner the shared objects have left.
 */
export async function settleCommittedRoll(run: OperandRun, revisions: Revisions): Promise<'go' | 'wait' | 'settled'> {
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
      return 'settled';
    }
  }
  // A set that is being deleted is never taken for ready; it has to be gone before it can be made anew.
  if (!wanted?.ours || !wanted.terminating) return 'go';
  if (created === desired) await writeStatus(run, { conditions: [madeAgain(wanted)] });
  return 'wait';
}

/** Nothing of ours deletes the wanted set. What keeps it is named: it may be somebody's finalizer. */
function madeAgain({ name, object }: Revision): OperandCondition {
  const holds = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== names.setFinalizer);
  const waits = holds.length > 0 ? `; it waits for ${holds.join(', ')}` : '';
  return operandCondition(
    'LatestActiveOperandReady',
    'Unknown',
    'Creating',
    `${name} was deleted; its members stay, and it is made again once it is gone${waits}`,
  );
}
