import { cloneJson } from '../../clone-json.ts';
import { matchesLabels, type LabelSelector } from '../../label-selector.ts';
import type { CollectionAddress, LocalClient } from '../../local-client.ts';
import type { ApiObject, OwnerReference } from '../../object.ts';
import type { Informer } from '../informer.ts';

/** The reference marked `controller: true`. */
export function controllerOf(object: ApiObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

export function controllerReference(owner: ApiObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion!,
    kind: owner.kind!,
    name: owner.metadata.name!,
    uid: owner.metadata.uid!,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/**
 * The objects an owner controls: its own that match the selector. Matching ones without a controller are adopted, own ones
 * that no longer match are let go; both only while the owner is not being deleted.
 */
export async function claim<T extends ApiObject>(
  client: LocalClient,
  owner: ApiObject,
  selector: LabelSelector,
  informer: Informer,
  address: CollectionAddress,
): Promise<T[]> {
  const claimed: T[] = [];
  for (const object of [...informer.list(owner.metadata.namespace)] as T[]) {
    const controller = controllerOf(object);
    const matches = matchesLabels(selector, object.metadata.labels);
    const at = { ...address, namespace: object.metadata.namespace, name: object.metadata.name! };
    const isOwnerLeaving = owner.metadata.deletionTimestamp !== undefined;
    if (controller) {
      if (controller.uid !== owner.metadata.uid) {
        continue;
      }
      if (matches) {
        claimed.push(object);
      } else if (!isOwnerLeaving) {
        const kept = object.metadata.ownerReferences!.filter((reference) => reference !== controller);
        await client.patch(at, 'merge', {
          metadata: {
            uid: object.metadata.uid!,
            resourceVersion: object.metadata.resourceVersion!,
            ownerReferences: kept.length > 0 ? cloneJson(kept as never) : null,
          },
        });
      }
    } else if (matches && !isOwnerLeaving && object.metadata.deletionTimestamp === undefined) {
      const references = [...(object.metadata.ownerReferences ?? []), controllerReference(owner)];
      const adopted = await client.patch(at, 'merge', {
        metadata: {
          uid: object.metadata.uid!,
          resourceVersion: object.metadata.resourceVersion!,
          ownerReferences: cloneJson(references as never),
        },
      });
      claimed.push(adopted as T);
    }
  }
  return claimed;
}
