import { isUnknownKind, type Client, type KubeObject } from '@slipway/kube';
import { groupOf } from '@slipway/manifests';

import { SourceError } from './source/source-error.ts';

/**
 * Gives every object its namespace: the one it names, else that of the Application; none where its kind has none. Kinds the cluster does not
 * know yet are those that a definition among the objects brings, or are taken to live in a namespace.
 */
export async function placeObjects(
  objects: readonly KubeObject[],
  namespace: string,
  client: Client,
  signal: AbortSignal,
): Promise<KubeObject[]> {
  const scopes = new Map<string, 'Namespaced' | 'Cluster'>();
  const scopeOf = async ({ apiVersion, kind }: KubeObject): Promise<'Namespaced' | 'Cluster'> => {
    const key = `${apiVersion}/${kind}`;
    const scope = scopes.get(key) ?? (await askedScope(apiVersion, kind));
    scopes.set(key, scope);
    return scope;
  };
  const askedScope = async (apiVersion: string, kind: string): Promise<'Namespaced' | 'Cluster'> => {
    try {
      return (await client.resolve(apiVersion, kind, { signal })).scope;
    } catch (error) {
      if (!isUnknownKind(error)) throw error;
      return scopeInSet(objects, groupOf(apiVersion), kind) ?? 'Namespaced';
    }
  };
  const placed: KubeObject[] = [];
  for (const object of objects) {
    const { namespace: own, ...metadata } = object.metadata;
    if ((await scopeOf(object)) === 'Cluster') {
      placed.push({ ...object, metadata });
      continue;
    }
    const where = own || namespace;
    if (where === '')
      throw new SourceError(
        'InvalidSpec',
        `spec.destination.namespace: is required, ${object.kind} ${metadata.name} names no namespace`,
      );
    placed.push({ ...object, metadata: { ...metadata, namespace: where } });
  }
  return placed;
}

function scopeInSet(objects: readonly KubeObject[], group: string, kind: string): 'Namespaced' | 'Cluster' | undefined {
  for (const object of objects) {
    if (object.kind !== 'CustomResourceDefinition') continue;
    const spec = object['spec'] as { group?: string; scope?: string; names?: { kind?: string } } | undefined;
    if (spec?.group === group && spec.names?.kind === kind) return spec.scope === 'Cluster' ? 'Cluster' : 'Namespaced';
  }
  return undefined;
}
