import {
  createMergePatch,
  isConflict,
  isTransient,
  type DeepReadonly,
  type KubeObject,
  type Patch,
} from '@slipway/kube';
import { inParallel, keyOfRef, refText, withMembership } from '@slipway/manifests';

import type { Comparison } from '../compare.ts';
import { fieldManager, type SyncRun } from '../run.ts';
import type { Target } from '../target.ts';
import { done, type Results, type StepOutcome } from './outcome.ts';

const atATime = 8;

/**
 * Writes objects that say `Replace=true` as a whole, as `kubectl replace` does: what others set in them goes. What is missing, or as it
 * should be, is left to be applied like everything else.
 */
export async function replaceObjects(
  run: SyncRun,
  targets: readonly Target[],
  { live, different }: Comparison,
  results: Results,
): Promise<StepOutcome> {
  const { client, context, membership } = run;
  const due = targets.filter(({ replaces, key }) => replaces && different.has(key) && live.has(key));
  const outcomes = await inParallel(due, atATime, async ({ object, ref, key }): Promise<StepOutcome> => {
    try {
      const kind = await client.resolve(object.apiVersion, object.kind, { signal: context.signal });
      const patch = replacing(live.get(key)!, withMembership(object, membership));
      await client.patch(kind, keyOfRef(ref), patch, { fieldManager, signal: context.signal });
      return done;
    } catch (error) {
      context.signal.throwIfAborted();
      const message = `${refText(ref)}: ${(error as Error).message}`;
      if (isConflict(error) || isTransient(error)) return { state: 'waiting', message };
      results.note(ref, object.apiVersion, 'Sync', { status: 'SyncFailed', message: (error as Error).message });
      return { state: 'failed', message };
    }
  });
  return outcomes.find(({ state }) => state === 'failed') ?? outcomes.find(({ state }) => state === 'waiting') ?? done;
}

/** What makes one out of the other and out of nothing later. A patch, since whoever may apply may do that too. */
function replacing(live: DeepReadonly<KubeObject>, wanted: KubeObject): Patch {
  const { labels: _labels, annotations: _annotations, ...kept } = live.metadata;
  const { uid, resourceVersion } = kept;
  const metadata = { ...kept, ...wanted.metadata };
  const status = live['status'];
  const change = createMergePatch({ ...live }, { ...wanted, ...(status === undefined ? {} : { status }), metadata });
  return {
    type: 'merge',
    body: { ...change, metadata: { ...(change?.['metadata'] as object), uid, resourceVersion } },
  };
}
