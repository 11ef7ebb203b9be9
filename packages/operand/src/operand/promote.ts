import { firstOfMany, findCondition, seconds } from '@slipway/kube';
import {
  failureText,
  leftOver,
  pruneMembers,
  refText,
  releaseMembers,
  type InventoryEntry,
  type PruneResult,
} from '@slipway/manifests';

import { ClusterActiveOperand } from '../api.ts';
import { toObjectRef, type LiveRef } from '../live-refs.ts';
import { names } from '../names.ts';
import { operandCondition } from '../reasons.ts';
import { carryOverFields, carryOverOf } from './carry-over.ts';
import { withoutMutual } from './contained-operands.ts';
import { dropKeptSecrets, keepReadyManifest } from './kept-manifest.ts';
import { obstacleIn } from './obstacles.ts';
import { emptyRefusal, keepReason, maxShare } from './prune-rules.ts';
import type { Revision, Revisions } from './revisions.ts';
import type { Manifest, OperandRun } from './run.ts';
import { activeReady, installed, pruneFailed, writeStatus } from './status.ts';

/**
 * The last step of a roll, and the only one that deletes: the new set has its references on every member and its content is
 * installed, so what only the old set had may go. In reverse order of the waves first (a webhook before its backend), then
 * the old set itself, and with it whatever the garbage collector still finds.
 */
export async function promoteSet(
  run: OperandRun,
  manifest: Manifest,
  revisions: Revisions,
  current: Revision,
): Promise<'done' | 'wait' | 'held'> {
  const { desired, ready, byName } = revisions;
  if (!current.ready || current.terminating) {
    await reportUnreadySet(run, current);
    return 'wait';
  }
  const old = ready !== '' && ready !== desired ? byName.get(ready) : undefined;
  const refusal = emptyRefusal(run, revisions, old);
  if (refusal !== undefined) {
    await reportPrune(run, { state: 'refused', members: [], message: refusal });
    return 'held';
  }
  if (old?.ours) return await retireOldSet(run, revisions, old);
  const rest = await pruneAbandoned(run, revisions.refs);
  if (rest !== 'gone') return rest;
  const changed = run.operand.status?.latestReadyActiveOperand !== desired;
  await writeStatus(run, {
    latestReadyActiveOperand: desired,
    ...carryOverFields([]),
    conditions: [
      activeReady(run, desired, { created: desired, ready: desired }),
      ...(manifest.rolledBack ? [] : [installed()]),
    ],
  });
  if (changed) run.context.events.normal(run.operand, 'SetActivated', `${desired} is the active set`);
  await keepReadyManifest(run, manifest, current);
  return 'done';
}

/** How long a set may take to own its members before the Operand says what keeps it. */
const ownedWithinMs = seconds(10);

/** A set that something refuses to let own its members would otherwise be waited for without a word. */
async function reportUnreadySet(run: OperandRun, { name, object, terminating }: Revision): Promise<void> {
  const unready = findCondition(object, 'Ready');
  if (terminating || unready?.status !== 'False') return;
  const since = Date.parse(unready.lastTransitionTime ?? '');
  if (run.context.clock.now() - since < ownedWithinMs) return;
  const message = `${name} does not own its members yet: ${unready.message}`;
  await writeStatus(run, {
    conditions: [operandCondition('LatestActiveOperandReady', 'Unknown', 'Creating', message)],
  });
}

async function retireOldSet(run: OperandRun, revisions: Revisions, old: Revision): Promise<'wait' | 'held'> {
  const policy = run.operand.spec.prunePolicy ?? 'Foreground';
  if (old.terminating) return 'wait';
  const entries = leftOver(
    old.live.map((ref): InventoryEntry => toObjectRef(ref)),
    revisions.refs.map(toObjectRef),
  );
  if (policy === 'Orphan') await releaseMembers({ ...run, signal: run.context.signal, entries });
  else {
    const result = await pruneMembers({
      client: run.client,
      entries,
      fieldManager: run.fieldManager,
      membership: run.membership,
      setSize: old.live.length,
      maxShare: maxShare(run),
      keep: (live) => keepReason(run, live, new Set([old.object.metadata.uid])),
      propagationPolicy: policy,
      signal: run.context.signal,
    });
    announcePruned(run, result);
    if (result.state !== 'pruned') {
      await reportPrune(run, result);
      return result.state === 'waiting' ? 'wait' : 'held';
    }
  }
  if (policy === 'Orphan') await dropKeptSecrets(run, old);
  await run.context.client.delete(
    ClusterActiveOperand,
    { name: old.name },
    { propagationPolicy: policy, preconditions: { uid: old.object.metadata.uid! } },
  );
  return 'wait';
}

/**
 * Prunes, or releases, what superseded sets left behind: ours by its field manager, owned by nobody, not wanted. `held`:
 * something is refused, and only a person can change that.
 */
export async function pruneAbandoned(run: OperandRun, wanted: readonly LiveRef[]): Promise<'gone' | 'wait' | 'held'> {
  const { spec, metadata } = run.operand;
  const isGoing = metadata.deletionTimestamp !== undefined;
  const carryOver = isGoing ? await withoutMutual(run, carryOverOf(run)) : carryOverOf(run);
  if (carryOver.length === 0) return 'gone';
  const entries = leftOver(
    carryOver.map((ref): InventoryEntry => toObjectRef(ref)),
    wanted.map(toObjectRef),
  );
  const policy = isGoing ? spec.deletionPolicy : spec.prunePolicy;
  if (policy === 'Orphan') {
    await releaseMembers({ ...run, signal: run.context.signal, entries });
    return 'gone';
  }
  const result = await pruneMembers({
    client: run.client,
    entries,
    fieldManager: run.fieldManager,
    membership: run.membership,
    keep: (live) => keepReason(run, live, new Set()),
    signal: run.context.signal,
  });
  announcePruned(run, result);
  if (result.state === 'pruned') return 'gone';
  await reportPrune(run, result);
  return result.state === 'waiting' ? 'wait' : 'held';
}

async function reportPrune(run: OperandRun, result: PruneResult): Promise<void> {
  if (result.state === 'refused') {
    const how = `annotate the Operand with ${names.approvePruneAnnotation}: "${run.operand.metadata.generation}" to allow it`;
    run.context.events.warning(run.operand, 'PruneRefused', `${result.message}; ${how}`);
    await writeStatus(run, {
      conditions: [operandCondition('LatestActiveOperandReady', false, 'PruneRefused', `${result.message}; ${how}`)],
    });
    return;
  }
  const failed = result.members.filter((member) => member.action === 'failed');
  if (failed.length === 0) return;
  run.obstacle = obstacleIn(failed);
  const text = firstOfMany(failed.map((member) => failureText({ ...member, action: 'failed' })));
  run.context.events.warning(run.operand, 'PruneFailed', text);
  await writeStatus(run, { conditions: [pruneFailed(text)] });
}

function announcePruned(run: OperandRun, result: PruneResult): void {
  const deleted = result.members.filter((member) => member.requested === true);
  if (deleted.length === 0) return;
  run.metrics?.pruned(run.operand.metadata.name!, deleted.length);
  const texts = deleted.map(({ ref }) => refText(ref));
  run.context.events.normal(run.operand, 'Pruned', firstOfMany(texts, { shown: 5, separator: ', ' }));
}
