import { Deployment } from '@slipway/kube';
import { controller } from '@slipway/runtime';

import { Berth } from './api.ts';
import { deploymentFor, deploymentKey } from './deployment.ts';
import { readiness } from './readiness.ts';

/** A reconciler is told a key: it reads what is, and writes what should be. The process may die between any two lines. */
export const berthController = controller({
  name: 'berth',
  for: Berth,
  owns: [Deployment],
  async reconcile({ cache, client, log }, key) {
    // 1. What is wanted? When it is gone, what it owned goes with it.
    const wanted = await cache.get(Berth, key);
    if (!wanted) return;

    // 2. Write what should be. Applied again, nothing changes.
    await client.apply(deploymentFor(wanted), { owner: wanted });

    // 3. Say how far it is. A change of the Deployment brings the key back.
    const ready = readiness(wanted, await cache.get(Deployment, deploymentKey(key)));
    await client.setStatus(wanted, { conditions: [ready] });
    log.info('reconciled', { ready: ready.status, reason: ready.reason });
  },
});
