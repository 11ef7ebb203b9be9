import type { JsonPatchOperation } from './client.ts';
import type { DeepReadonly, KubeObject } from './object.ts';

export function hasFinalizer(object: DeepReadonly<Pick<KubeObject, 'metadata'>>, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/** Deletion has been asked for; finalizers (or a grace period) keep the object for now. */
export function isTerminating(object: DeepReadonly<Pick<KubeObject, 'metadata'>>): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/**
 * A JSON patch that adds `finalizer` and is refused when the list is no longer what was read: it can neither drop nor
 * double anybody's. `undefined` when there is nothing to do.
 */
export function addFinalizerPatch(
  object: DeepReadonly<KubeObject>,
  finalizer: string,
): JsonPatchOperation[] | undefined {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(finalizer)) return undefined;
  if (finalizers.length > 0)
    return [
      ...identity(object),
      { op: 'test', path: '/metadata/finalizers', value: finalizers },
      { op: 'add', path: '/metadata/finalizers/-', value: finalizer },
    ];
  // `add` on the list itself would replace one that appeared meanwhile, so the whole object must be as it was read.
  return [
    ...identity(object),
    { op: 'test', path: '/metadata/resourceVersion', value: object.metadata.resourceVersion },
    { op: 'add', path: '/metadata/finalizers', value: [finalizer] },
  ];
}

/** The opposite of {@link addFinalizerPatch}. */
export function removeFinalizerPatch(
  object: DeepReadonly<KubeObject>,
  finalizer: string,
): JsonPatchOperation[] | undefined {
  const index = object.metadata.finalizers?.indexOf(finalizer) ?? -1;
  if (index < 0) return undefined;
  const path = `/metadata/finalizers/${index}`;
  return [...identity(object), { op: 'test', path, value: finalizer }, { op: 'remove', path }];
}

function identity(object: DeepReadonly<KubeObject>): JsonPatchOperation[] {
  return object.metadata.uid ? [{ op: 'test', path: '/metadata/uid', value: object.metadata.uid }] : [];
}
