import { controllerReference, hasFinalizer, isAlreadyExists } from '@slipway/kube';

import { ClusterActiveOperand, Operand } from '../api.ts';
import { labelValue, names } from '../names.ts';
import { toRevision, type Revision, type Revisions } from './revisions.ts';
import type { OperandRun } from './run.ts';
import { activeReady, installWaiting, writeStatus } from './status.ts';

/** The name of a set is in status before the set exists, so that a set is never without a record of it. */
export async function announceSet(run: OperandRun, revisions: Revisions): Promise<void> {
  const { created, ready, desired } = revisions;
  if (created === desired) return;
  await writeStatus(run, {
    latestCreatedActiveOperand: desired,
    conditions: [
      activeReady(run, desired, { created: desired, ready }),
      installWaiting('New operand created. Re-checking health'),
    ],
  });
}

/** The wanted set, created when it is not there. `undefined` when somebody else took the name meanwhile: the next run uses another. */
export async function createSet(run: OperandRun, revisions: Revisions): Promise<Revision | undefined> {
  const existing = revisions.byName.get(revisions.desired);
  const { operand, context } = run;
  if (existing?.ours) {
    // Sets of earlier versions have none.
    if (!hasFinalizer(existing.object, names.setFinalizer))
      await context.client.addFinalizer(existing.object, names.setFinalizer);
    return existing;
  }
  try {
    const created = await context.client.create<ClusterActiveOperand>({
      apiVersion: ClusterActiveOperand.apiVersion,
      kind: 'ClusterActiveOperand',
      metadata: {
        name: revisions.desired,
        labels: { [names.ownerNameLabel]: labelValue(operand.metadata.name!) },
        finalizers: [names.setFinalizer],
        ownerReferences: [controllerReference({ ...operand, apiVersion: Operand.apiVersion, kind: Operand.kind })],
      },
      spec: { live: [...revisions.refs] },
    } as ClusterActiveOperand);
    context.events.normal(operand, 'SetCreated', `${revisions.desired} with ${revisions.refs.length} members`);
    return toRevision(run, created);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return undefined;
  }
}
