import { parseDuration, seconds, minutes } from '@slipway/kube';

import type { OperationState } from '../../argo/application.ts';
import type { ReadSpec } from '../read-spec.ts';
import { SourceError } from '../source/source-error.ts';

/** How often an automated synchronization is tried again where the Application says nothing, as Argo CD does. */
const usualLimit = 5;

export interface RetryPlan {
  /** Below zero: for ever. */
  readonly limit: number;
  readonly firstMs: number;
  readonly factor: number;
  readonly longestMs: number;
}

export function retryPlan({ syncPolicy, operation }: ReadSpec): RetryPlan {
  const retry = operation.asked?.retry ?? syncPolicy?.retry;
  const { duration, factor, maxDuration } = retry?.backoff ?? {};
  return {
    limit: retry?.limit ?? (syncPolicy?.automated ? usualLimit : 0),
    firstMs: readDuration('duration', duration, seconds(5)),
    factor: factor ?? 2,
    longestMs: readDuration('maxDuration', maxDuration, minutes(3)),
  };
}

/** How long to wait after the last failure before attempt number `retryCount`. */
export function retryDelayMs(plan: RetryPlan, { retryCount = 0 }: OperationState): number {
  return Math.min(plan.longestMs, plan.firstMs * plan.factor ** Math.max(0, retryCount - 1));
}

function readDuration(field: string, text: string | undefined, usual: number): number {
  if (text === undefined || text === '') return usual;
  // Argo CD takes a bare number for seconds.
  if (/^\d+$/.test(text)) return seconds(Number(text));
  try {
    return parseDuration(text);
  } catch (error) {
    throw new SourceError('InvalidSpec', `spec.syncPolicy.retry.backoff.${field}: '${text}' is no duration`, {
      cause: error,
    });
  }
}
