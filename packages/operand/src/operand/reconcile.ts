import { isConditionTrue, isConflict, isTransient, KubeError, type ObjectKey, minutes, seconds } from '@slipway/kube';
import { groupOf, refusalText, type AppliedMemo, type MemberWatch } from '@slipway/manifests';
import { requeueAfter, type ReconcileContext, type Requeue } from '@slipway/runtime';

import { accountOf, clientFor, type AccountSettings } from '../account.ts';
import { Operand } from '../api.ts';
import { fieldManagerOf, operandMembership } from '../names.ts';
import { announceSet, createSet } from './announce.ts';
import { settleCommittedRoll } from './commit.ts';
import { installSet, untilDeadline } from './install.ts';
import { letGoingSetsGo } from './let-go.ts';
import { calculateManifest } from './manifest.ts';
import type { MemberKnowledge } from './member-changes.ts';
import { operandMetrics } from './metrics.ts';
import type { Obstacles } from './obstacles.ts';
import { planOperand } from './plan-mode.ts';
import { promoteSet } from './promote.ts';
import { readRevisions } from './revisions.ts';
import type { OperandRun } from './run.ts';
import { installFailed, pruneFailed, writeStatus } from './status.ts';
import { retireStrays, supersedePendingSet } from './supersede.ts';

/** What a process remembers of an Operand between runs. Losing it costs a few reads. */
export interface OperandMemory {
  readonly memo: AppliedMemo;
  readonly members: MemberKnowledge;
  readonly watch: MemberWatch;
  readonly obstacles: Obstacles;
}

export interface OperandSettings extends AccountSettings {
  /** Every Operand is looked at again after this time even when nothing seems to have changed, in milliseconds. Default 10 min. */
  readonly resyncMs?: number;
}

/** How soon to look again at something that is being deleted; its last event usually comes first. */
const waitMs = seconds(2);
/** How soon to look again at what no watch tells of. */
const blindMs = minutes(1);
/** How soon to look again at what only a person can move; a change of the Operand comes first. */
const heldMs = minutes(1);

/**
 * Brings one Operand a step further. Each numbered line is at most one kind of write; the process may die after any of them
 * and the next run goes on from what is stored. A status write that is refused because the Operand changed ends the run.
 */
export async function reconcileOperand(
  context: ReconcileContext,
  key: ObjectKey,
  memory: OperandMemory,
  settings: OperandSettings = {},
): Promise<Requeue | undefined> {
  // Read from the server, not from the cache: the decisions below delete objects.
  const operand = await context.client.get(Operand, key);
  if (!operand || operand.metadata.deletionTimestamp !== undefined) return undefined;
  const run: OperandRun = {
    context,
    client: clientFor(context.client, accountOf(operand, settings)),
    accounts: settings,
    operand,
    memo: memory.memo,
    members: memory.members,
    steady: isSteady(operand),
    fieldManager: fieldManagerOf(key.name),
    membership: operandMembership(key.name),
    metrics: operandMetrics(context.metrics),
  };

  const { members } = memory;
  members.begin(context.clock.now(), settings.resyncMs ?? minutes(10), operand.metadata.resourceVersion);
  try {
    const next = await runSteps(run, memory, settings);
    memory.obstacles.note(key, run.obstacle);
    members.end(run.operand.metadata.resourceVersion);
    return next;
  } catch (error) {
    members.distrust();
    await reportRefusal(run, error);
    return memory.obstacles.retryOrThrow(key, error, context.clock);
  }
}

async function runSteps(
  run: OperandRun,
  memory: OperandMemory,
  settings: OperandSettings,
): Promise<Requeue | undefined> {
  const { watch, obstacles } = memory;
  const { client, clock } = run.context;
  // 1. Calculate the manifest, and watch what it is about.
  const manifest = await calculateManifest(run);
  if (!manifest) return requeueAfter(heldMs);
  const groups = new Set(manifest.merged.map(({ apiVersion }) => groupOf(apiVersion)));
  const key = { name: run.operand.metadata.name! };
  if (obstacles.follow(key, groups)) run.members.distrust();
  const { isBlind, isLate } = await watch.followKindsOf(key, client, manifest.merged);
  const resyncMs = isBlind || hasUnseenSources(run) ? blindMs : (settings.resyncMs ?? minutes(10));
  if (run.operand.spec.mode === 'Plan') return planOperand(run, manifest, obstacles);

  // 2. Compute the LiveRefs and the name of the set; read the sets there are.
  const revisions = await readRevisions(run, manifest);

  // 3. Let sets that are being deleted go, without what is still wanted. A roll whose old set is on its way out is finished
  //    before anything newer is looked at.
  await letGoingSetsGo(run, revisions.byName.values());
  const roll = await settleCommittedRoll(run, revisions);
  if (roll === 'settled') return await runSteps(run, memory, settings);
  if (roll === 'wait') return requeueAfter(waitMs);

  // 4. Make the wanted set the pending one: retire a pending set that is no longer wanted, note the name, then create it.
  if ((await retireStrays(run, revisions)) === 'wait') return requeueAfter(waitMs);
  if ((await supersedePendingSet(run, revisions)) === 'wait') return requeueAfter(waitMs);
  await announceSet(run, revisions);
  const current = await createSet(run, revisions);
  if (!current) return requeueAfter(waitMs);

  // 5. Install the steady state when this generation has not been installed, then the whole manifest with the post-install part.
  // 6. Say whether the manifest is installed.
  const outcome = await installSet(run, manifest, revisions, current);
  // Kinds the manifest itself defines can be watched only now; what happened to their objects meanwhile was not seen.
  const { isNew: unseen } = await watch.followKindsOf(key, client, manifest.merged);
  if (unseen || isBlind || isLate) run.members.distrust();
  if (outcome !== 'installed') {
    const failed = obstacles.retryMs(clock);
    const after = { disturbed: waitMs, failed, pending: unseen || isBlind ? waitMs : resyncMs }[outcome];
    return requeueAfter(Math.min(after, untilDeadline(run)));
  }

  run.isInstalled = true;

  // 7. When the set is ready: delete the one before, then make this one the active set.
  const promoted = await promoteSet(run, manifest, revisions, current);
  if (promoted === 'wait' || unseen) return requeueAfter(waitMs);
  return requeueAfter(promoted === 'held' ? obstacles.retryMs(clock) : resyncMs);
}

/** An operator that reads nothing with rights of its own does not watch sources either. */
function hasUnseenSources({ operand, accounts }: OperandRun): boolean {
  return accounts.requireAccount === true && (operand.spec.steadyStateFrom ?? []).length > 0;
}

/** What the server refuses for good (a right that is missing, a webhook) shows in status, not only in the log. */
async function reportRefusal(run: OperandRun, error: unknown): Promise<void> {
  if (!(error instanceof KubeError) || [isConflict, isTransient].some((passes) => passes(error))) return;
  try {
    // Where it will be found again next time: a step that fails over and over must not take back what an earlier one said.
    const text = `${error.operation ?? 'a request'}: ${refusalText(error)}`;
    await writeStatus(run, { conditions: [run.isInstalled ? pruneFailed(text) : installFailed(text)] });
  } catch (second) {
    // The status may be what is refused; the first error is the one to tell.
    run.context.log.debug('status could not be written', { error: second });
  }
}

/** Everything is in force for this generation. */
function isSteady(operand: Operand): boolean {
  return isConditionTrue(operand, 'Ready') && operand.status?.observedGeneration === operand.metadata.generation;
}
