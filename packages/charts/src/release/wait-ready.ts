import type { KubeObject } from '@slipway/kube';
import { healthOf } from '@slipway/manifests';

import { objectText, type ReleaseObject } from './objects.ts';
import type { Operation } from './operation.ts';
import { ReleaseError } from './release-error.ts';

/**
 * Waits until all objects are as they should be, by the rules of kstatus. One that failed for good ends the wait. As with Helm, nobody waits for a Deployment
 * that is paused, nor, unless that is said, for more of a Job than its beginning.
 */
export async function waitReady(
  operation: Operation,
  objects: readonly ReleaseObject[],
  { waitForJobs = false }: { readonly waitForJobs?: boolean | undefined } = {},
): Promise<void> {
  operation.say({ type: 'phase', text: 'waiting for the objects to be ready' });
  const left = new Set(objects.filter((each) => !isPaused(each)));
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
      const isEnough = health.status === 'Current' || (!waitForJobs && hasBegun(each, present as KubeObject));
      if (!isEnough) return { object: objectText(each), message: health.message };
      left.delete(each);
      operation.say({ type: 'ready', object: objectText(each) });
    }
    return undefined;
  });
}

function isPaused({ kind, object }: ReleaseObject): boolean {
  return kind.group === 'apps' && kind.kind === 'Deployment' && (object['spec'] as Loose)?.['paused'] === true;
}

function hasBegun({ kind }: ReleaseObject, present: KubeObject): boolean {
  return kind.group === 'batch' && kind.kind === 'Job' && (present['status'] as Loose)?.['startTime'] !== undefined;
}

type Loose = Readonly<Record<string, unknown>> | undefined;
