import type { KubeObject } from '@slipway/kube';
import { healthOf } from '@slipway/manifests';

import { objectText, type ReleaseObject } from './objects.ts';
import type { Operation } from './operation.ts';
import { ReleaseError } from './release-error.ts';

/**
 * Waits until all objects are as they should be, by the rules of kstatus. One that failed for good ends the wait. A Job only has to have started,
 * unless `jobs` wants it done.
 */
export async function waitReady(
  operation: Operation,
  objects: readonly ReleaseObject[],
  { jobs = false }: { readonly jobs?: boolean | undefined } = {},
): Promise<void> {
  operation.say({ type: 'phase', text: 'waiting for the objects to be ready' });
  const left = new Set(objects);
  await operation.until(async () => {
    for (const each of left) {
      const { name, namespace } = each.object.metadata;
      const present = await operation.client.get(each.kind, { name: name!, namespace });
      if (present === undefined) return { object: objectText(each), message: 'it does not exist' };
      const health = healthOf(present as KubeObject);
      if (health.status === 'Failed')
        throw new ReleaseError('TimedOut', `${objectText(each)}: ${health.message}`, {
          hint: 'it will not become ready by itself; look at the object',
        });
      const runs = !jobs && isStartedJob(each, present as KubeObject);
      if (health.status !== 'Current' && !runs) return { object: objectText(each), message: health.message };
      left.delete(each);
      operation.say({ type: 'ready', object: objectText(each) });
    }
    return undefined;
  });
}

function isStartedJob({ kind }: ReleaseObject, object: KubeObject): boolean {
  const { startTime } = (object['status'] ?? {}) as { readonly startTime?: string };
  return kind.group === 'batch' && kind.kind === 'Job' && startTime !== undefined;
}
