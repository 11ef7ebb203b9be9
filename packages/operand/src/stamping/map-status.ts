import { findCondition, type DeepReadonly } from '@slipway/kube';

import type { Operand } from '../api.ts';

/** How a stamped Operand is doing, in the three words its stamper needs. */
export interface StampedStatus {
  readonly state: 'ready' | 'waiting' | 'failed';
  /** The reason of the Operand's `Ready`, for the stamper's own condition. */
  readonly reason: string;
  /** A sentence for people: names the object that is waited for or has failed. */
  readonly message: string;
}

/**
 * Really failed is what is not ready for another reason than waiting; everything else that is not ready, or is about an older
 * generation, is still on its way.
 */
export function mapStatus(operand: DeepReadonly<Operand>): StampedStatus {
  const ready = findCondition(operand, 'Ready');
  const { name, generation } = operand.metadata;
  const detail = ready?.message || `Operand ${name} has not been looked at yet`;
  if (ready?.status === 'False' && ready.reason !== 'Waiting')
    return { state: 'failed', reason: ready.reason ?? 'Failed', message: detail };
  if (operand.status?.observedGeneration !== generation)
    return { state: 'waiting', reason: 'Waiting', message: `Operand ${name} has not seen its present generation yet` };
  if (ready?.status !== 'True') return { state: 'waiting', reason: ready?.reason || 'Waiting', message: detail };
  return { state: 'ready', reason: ready.reason || 'Installed', message: detail };
}
