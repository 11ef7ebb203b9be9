import { isRecord } from '../json.ts';
import { KubeError } from '../kube-error.ts';
import type { KubeObject } from '../object.ts';

interface ListMeta {
  resourceVersion?: string;
  continue?: string;
  remainingItemCount?: number;
}

function badAnswer(operation: string, problem: string): KubeError {
  return new KubeError(`the answer to ${operation} ${problem}; is this an API server?`, {
    reason: 'BadAnswer',
    operation,
  });
}

/** The answer, if it is a JSON object at all. */
export function recordAnswer(answer: unknown, operation: string): Record<string, unknown> {
  if (!isRecord(answer)) throw badAnswer(operation, 'is not a JSON object');
  return answer;
}

/** An object, or the answer of a subresource, which may have no metadata. */
export function objectAnswer(
  answer: unknown,
  operation: string,
  need?: 'with metadata',
): { metadata: KubeObject['metadata'] | undefined } {
  const { metadata } = recordAnswer(answer, operation);
  if (need && !isRecord(metadata)) throw badAnswer(operation, 'has no metadata');
  if (metadata !== undefined && metadata !== null && !isRecord(metadata))
    throw badAnswer(operation, 'has metadata that is not an object');
  const finalizers = metadata?.['finalizers'];
  if (finalizers !== undefined && finalizers !== null && !Array.isArray(finalizers))
    throw badAnswer(operation, 'has finalizers that are not a list');
  return { metadata: (metadata ?? undefined) as KubeObject['metadata'] | undefined };
}

/** A list whose items are objects with names. */
export function listAnswer(answer: unknown, operation: string): { metadata: ListMeta; items: KubeObject[] } {
  const { metadata, items } = recordAnswer(answer, operation);
  if (items !== undefined && items !== null && !Array.isArray(items))
    throw badAnswer(operation, 'has items that are not a list');
  const objects = (items ?? []) as unknown[];
  if (!objects.every((item) => isRecord(item) && isRecord(item['metadata'])))
    throw badAnswer(operation, 'has items without metadata');
  const meta = isRecord(metadata) ? metadata : {};
  return {
    metadata: {
      ...(typeof meta['resourceVersion'] === 'string' ? { resourceVersion: meta['resourceVersion'] } : {}),
      ...(typeof meta['continue'] === 'string' ? { continue: meta['continue'] } : {}),
      ...(typeof meta['remainingItemCount'] === 'number' ? { remainingItemCount: meta['remainingItemCount'] } : {}),
    },
    items: objects as KubeObject[],
  };
}
