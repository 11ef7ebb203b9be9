import { ConfigMap, type CacheEvent } from '@slipway/kube';
import { controller, type Controller } from '@slipway/runtime';

import { BtpOperator } from '../api.ts';
import { names, visibleSelector } from '../names.ts';
import { reconcileProbe, type ProbeOptions } from './reconcile.ts';

/** Runs the CA bundle probe beside the module, on its own: a probe that hangs keeps nothing else waiting. */
export function caBundleProbeController(options: ProbeOptions): Controller {
  return controller({
    name: 'btp-manager-ca-bundle-probe',
    for: BtpOperator,
    lease: names.lease,
    watches: [
      {
        kind: ConfigMap,
        scope: { labelSelector: visibleSelector, metadataOnly: true, view: 'btp-manager' },
        predicates: [(event: CacheEvent) => event.key.name === options.settings.configName],
        map: () => [names.primary],
      },
    ],
    reconcile: (context, key) => reconcileProbe(context, key, options),
  });
}
