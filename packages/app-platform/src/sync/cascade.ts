import type { DeepReadonly, KubeObject } from '@slipway/kube';
import { pruneMembers, refOf, refText } from '@slipway/manifests';

import { isOurs, resourceRef } from './compare.ts';
import { done, type StepOutcome } from './operation/outcome.ts';
import type { SyncRun } from './run.ts';
import { optionsOf } from './sync-options.ts';

/** Without an answer to `confirm` an object stays. */
function keepReason(live: DeepReadonly<KubeObject>): string | undefined {
  const wish = optionsOf(live as KubeObject, new Map()).get('Delete') ?? 'true';
  return wish === 'true' ? undefined : `says Delete=${wish}`;
}

/** Removes what an Application brought. The finalizer that asks for it may say how. */
export async function removeResources(run: SyncRun, finalizer: string): Promise<StepOutcome> {
  const { application, client, context } = run;
  const result = await pruneMembers({
    client,
    entries: (application.status?.resources ?? []).map(resourceRef),
    keep: (live) => (isOurs(live, run, refOf(live)) ? keepReason(live) : 'is not ours any more'),
    propagationPolicy: finalizer.endsWith('/background') ? 'Background' : 'Foreground',
    signal: context.signal,
  });
  if (result.state === 'pruned') return done;
  if (result.state === 'waiting') return { state: 'waiting', message: 'waiting for its objects to go' };
  const refused = result.members.filter(({ action }) => action === 'failed');
  const texts = refused.map(({ ref, message }) => `${refText(ref)}: ${message ?? 'was refused'}`);
  return { state: 'failed', message: `${texts.join('; ')}; allow it` };
}
