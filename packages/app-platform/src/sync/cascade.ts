import { seconds, type DeepReadonly, type KubeObject } from '@slipway/kube';
import { pruneMembers, refOf, refText } from '@slipway/manifests';
import { requeueAfter, type Requeue } from '@slipway/runtime';

import type { Application } from '../argo/application.ts';
import { argo } from '../argo/words.ts';
import { isOurs, resourceRef } from './compare.ts';
import type { SyncRun } from './run.ts';
import { withConditions, writeStatus } from './status.ts';
import { optionsOf } from './sync-options.ts';

const lookAgainMs = seconds(2);
const afterFailureMs = seconds(30);

/** The finalizer that asks for it, in any of its forms. */
export function cascadeFinalizer({ metadata }: Application): string | undefined {
  return metadata.finalizers?.find((name) => name === argo.cascade || name.startsWith(`${argo.cascade}/`));
}

/** Without an answer to `confirm` an object stays. */
function keepReason(live: DeepReadonly<KubeObject>): string | undefined {
  const wish = optionsOf(live as KubeObject, new Map()).get('Delete') ?? 'true';
  return wish === 'true' ? undefined : `says Delete=${wish}`;
}

/** Removes what an Application brought, then lets it go. Without the finalizer everything stays. */
export async function removeWithResources(run: SyncRun): Promise<Requeue | undefined> {
  const { application, client, context } = run;
  const finalizer = cascadeFinalizer(application);
  if (finalizer === undefined) return undefined;
  const result = await pruneMembers({
    client,
    entries: (application.status?.resources ?? []).map(resourceRef),
    keep: (live) => (isOurs(live, run, refOf(live)) ? keepReason(live) : 'is not ours any more'),
    propagationPolicy: finalizer.endsWith('/background') ? 'Background' : 'Foreground',
    signal: context.signal,
  });
  if (result.state === 'waiting') return requeueAfter(lookAgainMs);
  if (result.state === 'pruned') {
    await client.removeFinalizer(application, finalizer, { signal: context.signal });
    context.log.info('removed an application with its objects', { application: run.name });
    return undefined;
  }
  const refused = result.members.filter(({ action }) => action === 'failed');
  const texts = refused.map(({ ref, message }) => `${refText(ref)}: ${message ?? 'was refused'}`);
  await writeStatus(run, {
    conditions: withConditions(run, ['DeletionError'], {
      DeletionError: `${texts.join('; ')}; allow it, or remove the finalizer ${finalizer} to leave everything`,
    }),
  });
  return requeueAfter(afterFailureMs);
}
