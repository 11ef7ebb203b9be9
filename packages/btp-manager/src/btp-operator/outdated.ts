import {
  isConflict,
  isNotFound,
  isTransient,
  parseApiVersion,
  type DeepReadonly,
  type KubeObject,
} from '@slipway/kube';

import type { ModuleFiles } from '../resources/load.ts';
import type { BtpRun } from './run.ts';

/**
 * Step 7: deletes what earlier versions brought and this one does not. Objects and kinds that are gone are fine. What is also
 * among the resources to apply stays: deleting and applying it in turn would take it from its users on every pass.
 */
export async function deleteOutdated(run: BtpRun, files: ModuleFiles): Promise<void> {
  const kept = new Set([...files.apply, ...files.networkPolicies].map(nameOf));
  const problems: string[] = [];
  for (const object of files.outdated) {
    const { name = '', namespace } = object.metadata;
    try {
      const kind = await run.context.client.resolve(object.apiVersion, object.kind);
      const where: { namespace?: string } =
        kind.scope === 'Namespaced' ? { namespace: namespace ?? run.settings.chartNamespace } : {};
      const key = { ...where, name };
      if (
        kept.has(nameOf(object)) &&
        (where.namespace ?? run.settings.chartNamespace) === run.settings.chartNamespace
      ) {
        run.context.log.warn('a resource is to be applied and to be deleted; it stays', {
          resource: `${object.kind} ${name}`,
        });
        continue;
      }
      if (await run.context.client.get(kind, key)) await run.context.client.delete(kind, key);
    } catch (error) {
      run.context.signal.throwIfAborted();
      if (isConflict(error) || isTransient(error)) throw error;
      if (!isNotFound(error)) problems.push(`failed to delete ${name} ${object.kind}: ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) throw new Error(problems.join(', '));
}

/** An object inside the namespace of the module, or outside of namespaces, in whatever version of its group. */
function nameOf({ apiVersion, kind, metadata }: DeepReadonly<KubeObject>): string {
  return `${parseApiVersion(apiVersion).group}/${kind}/${metadata.name}`;
}
