import { ClusterActiveOperand } from '../api.ts';
import { noteCarryOver } from './note-carry-over.ts';
import { letGoingSetsGo } from './let-go.ts';
import { toRevision, type Revision, type Revisions } from './revisions.ts';
import type { OperandRun } from './run.ts';

/**
 * A pending set that never became ready makes way for the wanted one. Its members may be members of the wanted set too, with
 * no other owner: so they are noted first (`carryOver`), then the set goes without its objects. What is left over is pruned
 * at the promotion, not before.
 */
export async function supersedePendingSet(run: OperandRun, revisions: Revisions): Promise<'go' | 'wait'> {
  const { created, ready, desired, byName } = revisions;
  if (created === '' || created === desired || created === ready) return 'go';
  const pending = byName.get(created);
  if (!pending?.ours) return 'go';
  await retire(run, pending);
  return 'wait';
}

/** Sets of ours that status does not name, as the original implementation leaves them, are retired the same way. */
export async function retireStrays(run: OperandRun, revisions: Revisions): Promise<'go' | 'wait'> {
  const known = new Set([revisions.created, revisions.ready, revisions.desired]);
  const cached = await run.context.cache.list(ClusterActiveOperand);
  let found = false;
  for (const item of cached) {
    if (known.has(item.metadata.name!) || !toRevision(run, item).ours) continue;
    const live = await run.context.client.get(ClusterActiveOperand, { name: item.metadata.name! });
    if (!live) continue;
    const stray = toRevision(run, live);
    if (!stray.ours) continue;
    if (!stray.terminating)
      run.context.events.warning(
        run.operand,
        'StraySetRetired',
        `${stray.name} belongs to this Operand but is not named in its status; retiring it`,
      );
    await retire(run, stray);
    await letGoingSetsGo(run, [stray]);
    found = true;
  }
  return found ? 'wait' : 'go';
}

async function retire(run: OperandRun, revision: Revision): Promise<void> {
  // Noted before the delete: afterwards nothing else knows of these objects.
  await noteCarryOver(run, revision.live);
  if (revision.terminating) return;
  await run.context.client.delete(
    ClusterActiveOperand,
    { name: revision.name },
    { propagationPolicy: 'Orphan', preconditions: { uid: revision.object.metadata.uid! } },
  );
  run.context.events.normal(
    run.operand,
    'SetSuperseded',
    `${revision.name} was not ready yet and makes way for a newer set`,
  );
}
