import { pruneMembers, refOf, refText } from '@slipway/manifests';

import { isOurs, type ExtraObject } from '../compare.ts';
import type { SyncRun } from '../run.ts';
import type { SyncOptions } from '../sync-options.ts';
import { done, type Results, type StepOutcome } from './outcome.ts';

/** Takes away what the sources do not want any more. After everything else: until then its successor may not be there. */
export async function prune(
  run: SyncRun,
  extra: readonly ExtraObject[],
  options: SyncOptions,
  results: Results,
): Promise<StepOutcome> {
  if (extra.length === 0) return done;
  const { client, context } = run;
  const result = await pruneMembers({
    client,
    entries: extra.map(({ ref }) => ref),
    keep: (live) => (isOurs(live, run, refOf(live)) ? undefined : 'is not ours any more'),
    propagationPolicy: propagationOf(options.get('PrunePropagationPolicy')),
    signal: context.signal,
  });
  for (const { ref, action, message } of result.members) {
    if (action === 'kept')
      results.note(ref, undefined, 'Sync', { status: 'PruneSkipped', message: message ?? 'is kept' });
    else if (action === 'failed')
      results.note(ref, undefined, 'Sync', { status: 'SyncFailed', message: message ?? 'was refused' });
    else if (action !== 'pending') results.note(ref, undefined, 'Sync', { status: 'Pruned', message: 'pruned' });
  }
  if (result.state === 'failed') {
    const failed = result.members.find(({ action }) => action === 'failed')!;
    return { state: 'failed', message: `${refText(failed.ref)} could not be pruned: ${failed.message ?? ''}` };
  }
  if (result.state !== 'waiting') return done;
  const left = result.members.filter(({ action }) => action === 'terminating');
  return { state: 'waiting', message: `waiting for ${left.map(({ ref }) => refText(ref)).join(', ')} to go` };
}

/** Argo CD's default is to wait for what depends on an object. */
function propagationOf(policy = 'foreground'): 'Foreground' | 'Background' | 'Orphan' {
  if (policy === 'orphan') return 'Orphan';
  return policy === 'background' ? 'Background' : 'Foreground';
}
