import type { ObjectKey } from '@slipway/kube';
import type { Controller, ReconcileContext } from '@slipway/runtime';

import { activeOperandControllers } from '../src/active/controllers.ts';
import { OwnedMembers } from '../src/active/owned-members.ts';
import { ownMembers } from '../src/active/ownership.ts';
import { ActiveOperand, ClusterActiveOperand } from '../src/api.ts';
import { names } from '../src/names.ts';
import { operandController } from '../src/operand/controller.ts';
import { memberReferenceTo } from '../src/set-references.ts';

/**
 * The controllers as they once were: that of the mirrors gave members their owner too, without knowing whose adoption the
 * Operand had refused, and without asking again whether the set was still there. Both cost objects.
 */
export function controllersThatBothOwn(): Controller[] {
  return [operandController(), ...activeOperandControllers().map(stamping)];
}

function stamping(controller: Controller): Controller {
  if (controller.for !== ActiveOperand) return controller;
  return {
    ...controller,
    async reconcile(context, key) {
      await stamp(context, key);
      return await controller.reconcile(context, key);
    },
  };
}

async function stamp({ cache, client, signal }: ReconcileContext, key: ObjectKey): Promise<void> {
  const mirror = await cache.get(ActiveOperand, key);
  const set = await client.get(ClusterActiveOperand, { name: key.name });
  if (!mirror || !set || set.metadata.uid !== mirror.metadata.labels?.[names.mirrorOfLabel]) return;
  if (set.metadata.deletionTimestamp !== undefined) return;
  const members = {
    client,
    live: mirror.spec.live ?? [],
    owner: memberReferenceTo(set),
    known: new OwnedMembers(),
    signal,
  };
  await ownMembers(members, async () => false);
}
