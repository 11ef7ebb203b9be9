import type { ApiObject } from '../object.ts';
import type { Strategy, StrategyContext } from '../resource.ts';
import { strategyWith } from './default-strategy.ts';

/** What a kind with a `/status` subresource says beyond the rule below. */
export interface StatusDifferences extends Partial<Strategy> {
  /** The status of a new object; default: an empty one. */
  readonly initialStatus?: (object: ApiObject, context: StrategyContext) => Record<string, unknown>;
  /** A status write cannot change labels. */
  readonly statusKeepsLabels?: boolean;
  /** A status write can change none of the metadata that clients write. */
  readonly statusKeepsMetadata?: boolean;
}

const clientMetadata = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

/**
 * The strategy of a kind with a `/status` subresource: clients cannot set the status through the object, and nothing but the status
 * (and some metadata) through the subresource.
 */
export function withStatus(differences: StatusDifferences): Strategy {
  const { initialStatus, statusKeepsLabels, statusKeepsMetadata, ...rest } = differences;
  const kept = statusKeepsMetadata ? clientMetadata : statusKeepsLabels ? (['labels'] as const) : [];
  return strategyWith({
    ...rest,
    statusField: true,
    prepareForCreate(object, context) {
      object['status'] = initialStatus?.(object, context) ?? {};
      rest.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, previous, context) {
      if (previous['status'] === undefined) delete object['status'];
      else object['status'] = previous['status'];
      rest.prepareForUpdate?.(object, previous, context);
    },
    prepareForStatusUpdate(object, previous, context) {
      restoreAllButStatus(object, previous);
      for (const field of kept) {
        delete object.metadata[field];
        if (previous.metadata[field] !== undefined)
          Object.assign(object.metadata, { [field]: previous.metadata[field] });
      }
      rest.prepareForStatusUpdate?.(object, previous, context);
    },
  });
}

/** Takes everything from the stored object but `status` and `metadata`. */
export function restoreAllButStatus(object: ApiObject, previous: ApiObject): void {
  for (const field of Object.keys(object)) {
    if (field !== 'status' && field !== 'metadata' && !(field in previous)) delete object[field];
  }
  for (const [field, value] of Object.entries(previous)) {
    if (field !== 'status' && field !== 'metadata') object[field] = value;
  }
}
