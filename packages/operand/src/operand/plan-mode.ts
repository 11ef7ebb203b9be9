import { minutes } from '@slipway/kube';
import { planText, refKey, type PlannedMember } from '@slipway/manifests';
import { requeueAfter, type Requeue } from '@slipway/runtime';

import { operandCondition } from '../reasons.ts';
import { obstacleIn, type Obstacles } from './obstacles.ts';
import { planOf } from './plan.ts';
import { readRevisions } from './revisions.ts';
import type { Manifest, OperandRun } from './run.ts';
import { writeStatus } from './status.ts';

/** Lines of the plan kept in status. */
const shownLines = 100;

/** A member without its values when it comes from a source: who may read the Operand need not be allowed to read that. */
function veiled(member: PlannedMember, { sourceNamespaces }: Manifest): PlannedMember {
  if (!sourceNamespaces.has(refKey(member.ref))) return member;
  const changes = member.changes.map(({ path, ...values }) => ({
    path,
    ...('from' in values ? { from: '***' } : {}),
    ...('to' in values ? { to: '***' } : {}),
  }));
  return { ...member, changes };
}

/** Shows in status what applying would do, and does nothing. */
export async function planOperand(run: OperandRun, manifest: Manifest, obstacles: Obstacles): Promise<Requeue> {
  const revisions = await readRevisions(run, manifest);
  const plan = await planOf(run, manifest, revisions);
  run.obstacle = obstacleIn(plan);
  const lines = planText(plan.map((member) => veiled(member, manifest))).split('\n');
  await writeStatus(run, {
    plan:
      lines.length > shownLines
        ? [...lines.slice(0, shownLines - 1), `… and ${lines.length - shownLines + 1} lines more`]
        : lines,
    conditions: [
      operandCondition('Planned', true, 'Planned', lines.at(-1)!),
      // What is on the cluster is not what this generation asks for: nobody may take it for ready.
      ...(plan.some((member) => member.action !== 'none' && member.action !== 'keep')
        ? [operandCondition('OperandInstalled', 'Unknown', 'Planned', `spec.mode is Plan: ${lines.at(-1)!}`)]
        : []),
      ...(revisions.created === revisions.desired && revisions.ready === revisions.desired
        ? []
        : [
            operandCondition(
              'LatestActiveOperandReady',
              'Unknown',
              'Planned',
              `${revisions.desired} would become active`,
            ),
          ]),
    ],
  });
  return requeueAfter(run.obstacle ? obstacles.retryMs(run.context.clock) : minutes(10));
}
