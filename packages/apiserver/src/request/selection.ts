import type { ApiObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { keyOf } from '../store/entry.ts';
import { parseFieldSelector } from './field-selector.ts';
import { parseLabelSelector } from './label-selector.ts';

/** Which objects of a resource a list or watch is about. */
export interface Selection {
  readonly namespace: string;
  /** The one key that can match, when the name is pinned. */
  readonly key?: string;
  /** Absent when everything in the namespace is selected. Sees objects in the version of the resource. */
  readonly matches?: (object: ApiObject) => boolean;
}

export interface SelectorTexts {
  readonly labelSelector: string;
  readonly fieldSelector: string;
}

export function selectionOf(resource: Resource, namespace: string, selectors: SelectorTexts): Selection {
  const labels = selectors.labelSelector ? parseLabelSelector(selectors.labelSelector) : undefined;
  const fields = selectors.fieldSelector ? parseFieldSelector(selectors.fieldSelector, resource) : undefined;
  if (!labels && !fields) return { namespace };
  const matches = (object: ApiObject) =>
    (!labels || labels(object.metadata.labels ?? {})) && (!fields || fields.test(object));
  const pinned = fields?.name !== undefined && (!resource.namespaced || namespace !== '');
  return { namespace, matches, ...(pinned ? { key: keyOf(resource.namespaced ? namespace : '', fields.name!) } : {}) };
}
