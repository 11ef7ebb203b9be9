import { ClusterRoleBinding, hours } from '@slipway/kube';
import { type Controller, controller } from '@slipway/runtime';

import { Authorization } from '../api/components.ts';
import { ClusterAdmin } from '../api/cluster-admin.ts';
import { APIServer } from '../api/components.ts';
import { targetWorkers } from '../component/define-component.ts';
import { statusChanged } from '../component/predicates.ts';
import { TargetWatch } from '../target/target-watch.ts';
import type { ConnectTarget } from '../target/target.ts';
import { managedBy, reconcileClusterAdmin } from './reconcile.ts';

export interface ClusterAdminOptions {
  readonly connect: ConnectTarget;
  /** How long full rights last, in milliseconds. Default 24 hours. */
  readonly activeMs?: number;
}

/** The controller of ClusterAdmins: full rights for a limited time, and never again under the same object. */
export function clusterAdminController({ connect, activeMs = hours(24) }: ClusterAdminOptions): Controller {
  const targetWatch = new TargetWatch([{ kind: ClusterRoleBinding, labelSelector: managedBy }]);
  const sameKey = (event: { readonly key: { name: string; namespace?: string } }) => [event.key];
  return controller({
    name: 'clusteradmin',
    for: ClusterAdmin,
    watches: [
      { kind: APIServer, predicates: [statusChanged], map: sameKey },
      { kind: Authorization, predicates: [statusChanged], map: sameKey },
    ],
    sources: [targetWatch],
    concurrency: targetWorkers,
    reconcile: async (context, key) => await reconcileClusterAdmin(context, key, { connect, activeMs, targetWatch }),
  });
}
