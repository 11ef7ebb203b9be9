import type { DeepReadonly, Deployment } from '@slipway/kube';
import { defineReasons } from '@slipway/runtime';

import type { Berth } from './api.ts';

/** Every reason a condition can give. `slipway explain` prints them; one that is not here does not compile. */
export const berthReasons = defineReasons({
  Berth: {
    Running: { meaning: 'As many replicas run as are wanted.', action: '' },
    Starting: { meaning: 'Fewer replicas run than are wanted.', action: 'Look at the Pods if it stays so.' },
  },
});

const condition = berthReasons.conditionOf('Berth');

/** The condition people and programs wait for. */
export function readiness({ spec }: Berth, deployment: DeepReadonly<Deployment> | undefined) {
  const running = deployment?.status?.readyReplicas ?? 0;
  const wanted = spec.replicas;
  return running >= wanted
    ? condition('Ready', true, 'Running', `${running} replicas run`)
    : condition('Ready', false, 'Starting', `${running} of ${wanted} replicas run; look at the Pods if it stays so`);
}
