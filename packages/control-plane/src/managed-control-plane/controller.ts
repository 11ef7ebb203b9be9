import { type CacheEvent, Namespace } from '@slipway/kube';
import { type Controller, controller, generationChanged, labelsChanged, or, type WatchContext } from '@slipway/runtime';

import { InternalConfiguration } from '../api/internal-configuration.ts';
import { ManagedControlPlane } from '../api/managed-control-plane.ts';
import { kindOf } from '../component/component-type.ts';
import {
  gotReconcileOperation,
  ignoreOperationChanged,
  lostIgnoreOperation,
  statusChanged,
} from '../component/predicates.ts';
import { type ManagedControlPlaneOptions, reconcileManagedControlPlane } from './reconcile.ts';

/** The controller of ManagedControlPlanes: woken by them, their InternalConfigurations and what their components have to say. */
export function managedControlPlaneController(options: ManagedControlPlaneOptions): Controller {
  return controller({
    name: 'managedcontrolplane',
    for: ManagedControlPlane,
    predicates: [or(generationChanged, labelsChanged, gotReconcileOperation, lostIgnoreOperation)],
    owns: options.active.map((type) => ({
      kind: kindOf(type),
      predicates: [or(statusChanged, ignoreOperationChanged)],
    })),
    watches: [
      // By name, not by owner: a new one has no owner yet.
      { kind: InternalConfiguration, predicates: [generationChanged], map: (event: CacheEvent) => [event.key] },
      {
        kind: Namespace,
        predicates: [labelsChanged],
        map: async (event: CacheEvent, { cache }: WatchContext) => {
          const all = await cache.list(ManagedControlPlane, { namespace: event.key.name });
          return all.map(({ metadata }) => ({ name: metadata.name!, namespace: metadata.namespace }));
        },
      },
    ],
    concurrency: 4,
    reconcile: async (context, key) => await reconcileManagedControlPlane(context, key, options),
  });
}
