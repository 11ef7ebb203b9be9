import { PriorityClass, type KubeObject } from '@slipway/kube';

import { names } from '../names.ts';
import type { BtpRun } from './run.ts';

/**
 * The objects without priority classes that others made, such as the one an installation of the original brings: those are used as
 * they are. Their value cannot be changed, pods of others may count on them, and they must not go with the module.
 */
export async function withoutForeignPriorityClasses(
  run: BtpRun,
  objects: readonly KubeObject[],
): Promise<KubeObject[]> {
  const kept: KubeObject[] = [];
  for (const object of objects) if (!(await isForeign(run, object))) kept.push(object);
  return kept;
}

async function isForeign(run: BtpRun, object: KubeObject): Promise<boolean> {
  if (object.apiVersion !== PriorityClass.apiVersion || object.kind !== PriorityClass.kind) return false;
  const found = await run.context.client.get(PriorityClass, { name: object.metadata.name! });
  return found !== undefined && found.metadata.labels?.[names.managedByLabel] !== names.managedByUs;
}
