import { KubeError, type KubeObject } from '@slipway/kube';

import { objectText, type ReleaseObject } from './objects.ts';
import type { Operation } from './operation.ts';
import { ReleaseError } from './release-error.ts';

/**
 * Waits until what a hook made has run to its end. Only a Job and a Pod can; everything else is done when it exists.
 *
 * @param made as the server answered when it was written
 */
export async function hookEnd(operation: Operation, each: ReleaseObject, made: KubeObject): Promise<void> {
  const { kind } = each;
  const runs = (kind.group === 'batch' && kind.kind === 'Job') || (kind.group === '' && kind.kind === 'Pod');
  if (!runs) return;
  const { name, namespace } = made.metadata;
  let seen = made;
  await operation.until(async () => {
    const present = (await operation.client.get(kind, { name: name!, namespace })) as KubeObject | undefined;
    seen = present ?? (await lastState(operation, each, seen));
    const outcome = outcomeOf(seen);
    if (outcome === 'succeeded') return undefined;
    if (outcome !== undefined)
      throw new ReleaseError('HookFailed', `${objectText(each)} failed${outcome.why}`, { hint: 'its logs say why' });
    if (present === undefined)
      throw new ReleaseError('HookFailed', `${objectText(each)} was deleted before it ended`, {
        hint: 'let it be for as long as it runs',
      });
    return { object: objectText(each), message: 'it has not completed' };
  });
}

/** What became of an object that is gone, such as a Job that is deleted as soon as it has completed. The server remembers it for a while. */
async function lastState({ client }: Operation, { kind }: ReleaseObject, seen: KubeObject): Promise<KubeObject> {
  const { name, namespace, resourceVersion } = seen.metadata;
  const selected = { namespace, fieldSelector: `metadata.name=${name}`, resourceVersion, timeoutSeconds: 5 };
  try {
    for await (const event of client.watch(kind, selected))
      if (event.type === 'DELETED') return event.object as KubeObject;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
  }
  return seen;
}

function outcomeOf(object: KubeObject): 'succeeded' | { readonly why: string } | undefined {
  const status = (object['status'] ?? {}) as {
    phase?: string;
    message?: string;
    conditions?: { type: string; status: string; message?: string }[];
  };
  const holding = (type: string) => status.conditions?.find((held) => held.type === type && held.status === 'True');
  if (status.phase === 'Succeeded' || holding('Complete')) return 'succeeded';
  const failed = holding('Failed') ?? (status.phase === 'Failed' ? status : undefined);
  return failed && { why: failed.message ? `: ${failed.message}` : '' };
}
