import { isNotFound, isUnknownKind, type Client, type DeepReadonly, type KubeObject } from '@slipway/kube';

type Typed = Pick<DeepReadonly<KubeObject>, 'apiVersion' | 'kind'>;

/** Which kind an object is of, as a key. */
export function kindKey({ apiVersion, kind }: Typed): string {
  return `${apiVersion}/${kind}`;
}

/**
 * The kinds among `objects` that live outside namespaces: as their definitions say where those belong to the set, otherwise as
 * the server says. A kind nobody knows is taken for a namespaced one; applying it will say that it is not known.
 */
export async function clusterScopedKinds(
  client: Pick<Client, 'resolve'>,
  objects: readonly DeepReadonly<KubeObject>[],
): Promise<ReadonlySet<string>> {
  const defined = scopesDefinedBy(objects);
  const kinds = new Map(objects.map((object) => [kindKey(object), object]));
  const scopes = await Promise.all(
    [...kinds].map(async ([key, object]) => [key, defined.get(key) ?? (await servedScope(client, object))] as const),
  );
  return new Set(scopes.filter(([, scope]) => scope === 'Cluster').map(([key]) => key));
}

async function servedScope(client: Pick<Client, 'resolve'>, { apiVersion, kind }: Typed): Promise<string | undefined> {
  try {
    return (await client.resolve(apiVersion, kind)).scope;
  } catch (error) {
    if (isNotFound(error) || isUnknownKind(error)) return undefined;
    throw error;
  }
}

function scopesDefinedBy(objects: readonly DeepReadonly<KubeObject>[]): Map<string, string | undefined> {
  const scopes = new Map<string, string | undefined>();
  for (const object of objects) {
    if (object.kind !== 'CustomResourceDefinition') continue;
    const { group, scope, names, versions } = (object['spec'] ?? {}) as {
      group?: string;
      scope?: string;
      names?: { kind?: string };
      versions?: { name?: string }[];
    };
    for (const { name } of versions ?? []) scopes.set(`${group}/${name}/${names?.kind}`, scope);
  }
  return scopes;
}
