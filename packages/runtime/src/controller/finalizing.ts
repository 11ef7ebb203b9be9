import { hasFinalizer, isTerminating, type Kind, type ObjectKey } from '@slipway/kube';

import type { Finalize, Reconcile, ReconcileContext } from './controller.ts';

/**
 * A reconciler that puts the finalizer on objects before it first touches them, and runs the clean-up instead of
 * `reconcile` once they are being deleted. The finalizer comes first: were anything created before it, a deletion in
 * between would leave that behind.
 */
export function withFinalizer(kind: Kind, finalize: Finalize, reconcile: Reconcile): Reconcile {
  return async (context: ReconcileContext, key: ObjectKey) => {
    const object = await context.cache.get(kind, key);
    if (!object) return reconcile(context, key);
    const present = hasFinalizer(object, finalize.finalizer);
    if (!isTerminating(object)) {
      if (!present) await context.client.addFinalizer(object, finalize.finalizer);
      return reconcile(context, key);
    }
    // Somebody else's finalizer keeps the object; ours is done.
    if (!present) return undefined;
    const unfinished = await finalize.run(context, object);
    if (unfinished) return unfinished;
    await context.client.removeFinalizer(object, finalize.finalizer);
    return undefined;
  };
}
