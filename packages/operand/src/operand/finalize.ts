import {
  firstOfMany,
  hasFinalizer,
  isConflict,
  isTransient,
  KubeError,
  seconds,
  type DeepReadonly,
} from '@slipway/kube';
import {
  AppliedMemo,
  failureText,
  ManifestError,
  pruneMembers,
  refusalText,
  releaseMembers,
  type InventoryEntry,
} from '@slipway/manifests';
import { requeueAfter, type ReconcileContext, type Requeue } from '@slipway/runtime';

import { accountOf, accountProblems, clientFor, type AccountSettings } from '../account.ts';
import { ClusterActiveOperand, Operand } from '../api.ts';
import { toObjectRef } from '../live-refs.ts';
import { fieldManagerOf, operandMembership } from '../names.ts';
import { carryOverOf } from './carry-over.ts';
import { withoutMutual } from './contained-operands.ts';
import { dropKeptSecrets } from './kept-manifest.ts';
import { letGoingSetsGo } from './let-go.ts';
import { MemberKnowledge } from './member-changes.ts';
import { obstacleIn, type Obstacles } from './obstacles.ts';
import { pruneAbandoned } from './promote.ts';
import { keepReason } from './prune-rules.ts';
import { toRevision, type Revision } from './revisions.ts';
import type { OperandRun } from './run.ts';
import { deleteFailed, installUnready, writeStatus } from './status.ts';

const waitMs = seconds(2);

/** Takes an Operand off the cluster: its sets with everything in them, in reverse order, then what superseded sets left. */
export async function finalizeOperand(
  context: ReconcileContext,
  seen: DeepReadonly<Operand>,
  obstacles: Obstacles,
  settings: AccountSettings = {},
): Promise<Requeue | undefined> {
  const key = { name: seen.metadata.name! };
  const operand = await context.client.get(Operand, key);
  if (!operand || operand.metadata.uid !== seen.metadata.uid) return undefined;
  // The garbage collector is taking the references to this Operand off its sets (`--cascade=orphan`): what it frees is not ours any more.
  if (hasFinalizer(operand, 'orphan')) return requeueAfter(waitMs);
  const run: OperandRun = {
    context,
    client: clientFor(context.client, accountOf(operand, settings)),
    accounts: settings,
    operand,
    memo: new AppliedMemo(0),
    members: new MemberKnowledge(),
    steady: false,
    fieldManager: fieldManagerOf(operand.metadata.name!),
    membership: operandMembership(operand.metadata.name!),
  };
  try {
    const next = await takeOff(run, obstacles);
    obstacles.note(key, run.obstacle);
    return next;
  } catch (error) {
    if (error instanceof KubeError && ![isConflict, isTransient].some((passes) => passes(error)))
      await writeStatus(run, {
        conditions: [deleteFailed(`${error.operation ?? 'a request'}: ${refusalText(error)}`)],
      });
    return obstacles.retryOrThrow(key, error, context.clock);
  }
}

async function takeOff(run: OperandRun, obstacles: Obstacles): Promise<Requeue | undefined> {
  const { operand, context } = run;
  const after = (left: 'wait' | 'held') => requeueAfter(left === 'wait' ? waitMs : obstacles.retryMs(context.clock));
  const sets = await ownSets(run);
  const problems = accountProblems(operand, run.accounts);
  // Where nothing was ever done for it, nothing has to be undone with anybody's rights.
  if (problems.length > 0 && (sets.length > 0 || carryOverOf(run).length > 0)) {
    await writeStatus(run, { conditions: [deleteFailed(new ManifestError(problems).summary())] });
    return after('held');
  }
  await letGoingSetsGo(run, sets);

  // 1. Delete all sets of this Operand.
  for (const set of sets) {
    if (set.terminating) continue;
    const removed = operand.spec.deletionPolicy === 'Orphan' ? 'gone' : await removeMembers(run, set, sets);
    if (removed !== 'gone') return after(removed);
    if (operand.spec.deletionPolicy === 'Orphan') {
      // Before the set goes: afterwards nobody knows what was in it.
      await releaseMembers({ ...run, signal: context.signal, entries: set.live.map(toObjectRef) });
      await dropKeptSecrets(run, set);
    }
    await context.client.delete(
      ClusterActiveOperand,
      { name: set.name },
      {
        propagationPolicy: operand.spec.deletionPolicy === 'Orphan' ? 'Orphan' : await goingWith(run, set),
        preconditions: { uid: set.object.metadata.uid! },
      },
    );
  }
  const left = await ownSets(run);
  await letGoingSetsGo(run, left);
  if (left.length > 0) return requeueAfter(waitMs);

  // 2. Prune, or release, what superseded sets left behind.
  const rest = await pruneAbandoned(run, []);
  if (rest !== 'gone') return after(rest);
  return undefined;
}

/** In the foreground a set waits for its members, also for an Operand that waits for this one. */
async function goingWith(run: OperandRun, { live }: Revision): Promise<'Foreground' | 'Background'> {
  return (await withoutMutual(run, live)).length === live.length ? 'Foreground' : 'Background';
}

/** Asked of the server: a set created a moment ago must not be missed. */
async function ownSets(run: OperandRun): Promise<Revision[]> {
  const sets: Revision[] = [];
  for await (const object of run.context.client.list(ClusterActiveOperand)) {
    const revision = toRevision(run, object);
    if (revision.ours) sets.push(revision);
  }
  return sets;
}

async function removeMembers(
  run: OperandRun,
  set: Revision,
  sets: readonly Revision[],
): Promise<'gone' | 'wait' | 'held'> {
  const own = new Set(sets.map((item) => item.object.metadata.uid));
  const result = await pruneMembers({
    client: run.client,
    entries: (await withoutMutual(run, set.live)).map((ref): InventoryEntry => toObjectRef(ref)),
    fieldManager: run.fieldManager,
    membership: run.membership,
    keep: (live) => keepReason(run, live, own),
    propagationPolicy: 'Foreground',
    signal: run.context.signal,
  });
  if (result.state === 'pruned') return 'gone';
  run.obstacle = obstacleIn(result.members);
  const open = result.members.filter((member) => member.action === 'terminating' || member.action === 'failed');
  const text = firstOfMany(open.map((member) => failureText({ ...member, action: 'failed' })));
  await writeStatus(run, {
    conditions: [result.state === 'waiting' ? installUnready(`the end of ${text}`) : deleteFailed(text)],
  });
  return result.state === 'waiting' ? 'wait' : 'held';
}
