import type { Client, KubeObject } from '@slipway/kube';

import { objectText, type ReleaseObject } from './objects.ts';
import { ReleaseError } from './release-error.ts';

const managedByLabel = 'app.kubernetes.io/managed-by';
const nameAnnotation = 'meta.helm.sh/release-name';
const namespaceAnnotation = 'meta.helm.sh/release-namespace';

export interface Owner {
  readonly name: string;
  readonly namespace: string;
}

/** The object with the marks that say which release it belongs to. They are not part of the stored manifest. */
export function withOwner({ object, kind }: ReleaseObject, owner: Owner): ReleaseObject {
  const { metadata } = object;
  return {
    kind,
    object: {
      ...object,
      metadata: {
        ...metadata,
        labels: { ...metadata.labels, [managedByLabel]: 'Helm' },
        annotations: { ...metadata.annotations, [nameAnnotation]: owner.name, [namespaceAnnotation]: owner.namespace },
      },
    },
  };
}

export function isOwnedBy(object: KubeObject, owner: Owner): boolean {
  const { labels, annotations } = object.metadata;
  return (
    labels?.[managedByLabel] === 'Helm' &&
    annotations?.[nameAnnotation] === owner.name &&
    annotations[namespaceAnnotation] === owner.namespace
  );
}

/**
 * Which of the objects are there already. Refuses before anything is written when one of them belongs to somebody else, unless it is to be taken over.
 */
export async function findPresent(
  client: Client,
  objects: readonly ReleaseObject[],
  owner: Owner,
  { takeOwnership = false }: { readonly takeOwnership?: boolean },
): Promise<ReadonlySet<ReleaseObject>> {
  const found = new Set<ReleaseObject>();
  for (const each of objects) {
    const { name, namespace } = each.object.metadata;
    const present = await client.get(each.kind, { name: name!, namespace });
    if (present === undefined) continue;
    found.add(each);
    if (takeOwnership || isOwnedBy(present as KubeObject, owner)) continue;
    throw new ReleaseError(
      'Foreign',
      `${objectText(each)} exists and cannot be imported into release ${owner.name}: it lacks the label ${managedByLabel}=Helm or the annotations ${nameAnnotation}=${owner.name} and ${namespaceAnnotation}=${owner.namespace}`,
      { hint: 'remove or rename it, or take it over with --take-ownership' },
    );
  }
  return found;
}

/** Whether an object is to stay when its release goes. */
export function isKept(object: KubeObject): boolean {
  return object.metadata.annotations?.['helm.sh/resource-policy']?.trim().toLowerCase() === 'keep';
}
