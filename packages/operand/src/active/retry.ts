import { findCondition, minutes, seconds, type DeepReadonly } from '@slipway/kube';

import type { ActiveOperand, ClusterActiveOperand } from '../api.ts';

/**
 * When to look again at a set that is not ready: soon after it became so (a definition that is just being served tells nobody),
 * then less and less often, as long as it has been waiting, at most a minute.
 */
export function retryAfterMs(set: DeepReadonly<ActiveOperand | ClusterActiveOperand>, nowMs: number): number {
  const ready = findCondition(set, 'Ready');
  const since = ready?.status === 'False' ? Date.parse(ready.lastTransitionTime ?? '') : nowMs;
  const waited = Number.isNaN(since) ? 0 : nowMs - since;
  return Math.min(Math.max(waited, seconds(1)), minutes(1));
}
