import { isConflict, isTransient, type KubeObject } from '@slipway/kube';
import { inParallel, refText, withMembership } from '@slipway/manifests';

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
    const { uid, resourceVersion, finalizers, ownerReferences } = live.get(key)!.metadata;
    const whole = withMembership(object, membership);
    // Others hold on to it by these: they are no content.
    const held = { ...(finalizers ? { finalizers } : {}), ...(ownerReferences ? { ownerReferences } : {}) };
    const metadata = { ...held, ...whole.metadata, uid, resourceVersion } as KubeObject['metadata'];
    try {
      await client.update({ ...whole, metadata }, { fieldManager, signal: context.signal });
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
