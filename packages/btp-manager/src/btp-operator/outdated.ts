import { isConflict, isNotFound, isTransient, type KubeObject } from '@slipway/kube';

import type { BtpRun } from './run.ts';

/** Step 7: deletes what earlier versions brought and this one does not. Objects and kinds that are gone are fine. */
export async function deleteOutdated(run: BtpRun, outdated: readonly KubeObject[]): Promise<void> {
  const problems: string[] = [];
  for (const object of outdated) {
    const { name = '', namespace } = object.metadata;
    try {
      const kind = await run.context.client.resolve(object.apiVersion, object.kind);
      const where = kind.scope === 'Namespaced' ? { namespace: namespace ?? run.settings.chartNamespace } : {};
      const key = { ...where, name };
      if (await run.context.client.get(kind, key)) await run.context.client.delete(kind, key);
    } catch (error) {
      run.context.signal.throwIfAborted();
      if (isConflict(error) || isTransient(error)) throw error;
      if (!isNotFound(error)) problems.push(`failed to delete ${name} ${object.kind}: ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) throw new Error(problems.join(', '));
}
