import { cloneJson } from '../clone-json.ts';
import type { ApiObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Entry } from '../store/entry.ts';

export function apiVersionOf(resource: { group: string; version: string }): string {
  return resource.group ? `${resource.group}/${resource.version}` : resource.version;
}

const identities = new WeakMap<Resource, string>();
let lastIdentity = 0;

/** A short text that differs for every `Resource`, also for the same path before and after its CRD changed. */
export function identityOf(resource: Resource): string {
  let identity = identities.get(resource);
  if (!identity) {
    lastIdentity += 1;
    identities.set(resource, (identity = String(lastIdentity)));
  }
  return identity;
}

/** A stored object in the version of `resource`. The result is shared: copy before changing. */
export function inVersion(entry: Entry, resource: Resource): ApiObject | Promise<ApiObject> {
  if (!resource.custom && !resource.conversion && entry.object.apiVersion === apiVersionOf(resource))
    return entry.object;
  return entry.cached(`object ${identityOf(resource)}`, () => {
    if (!resource.conversion) return finish(entry.object, resource);
    const converted = resource.conversion.fromStorage([entry.object]);
    if (converted instanceof Promise) return converted.then(([object]) => finish(object!, resource));
    return finish(converted[0]!, resource);
  });
}

/** Converts many stored objects with one call, so that a list does not ask a webhook for each of its items. */
export function convertTogether(entries: readonly Entry[], resource: Resource): void | Promise<void> {
  if (!resource.conversion) return undefined;
  const representation = `object ${identityOf(resource)}`;
  const missing = entries.filter((entry) => !entry.has(representation));
  if (missing.length < 2) return undefined;
  const remember = (objects: readonly ApiObject[]) => {
    for (const [index, entry] of missing.entries()) {
      entry.cached(representation, () => finish(objects[index]!, resource));
    }
  };
  const converted = resource.conversion.fromStorage(missing.map(({ object }) => object));
  return converted instanceof Promise ? converted.then(remember) : remember(converted);
}

/** An object of the version of `resource` as it is stored. */
export function toStorage(object: ApiObject, resource: Resource): ApiObject | Promise<ApiObject> {
  if (resource.conversion) {
    const converted = resource.conversion.toStorage([object]);
    return converted instanceof Promise ? converted.then(([stored]) => stored!) : converted[0]!;
  }
  if (resource.version === resource.storageVersion) return object;
  return { ...object, apiVersion: apiVersionOf({ group: resource.group, version: resource.storageVersion }) };
}

/** Custom resources are defaulted on reading too: their schema may have learnt defaults since they were written. */
function finish(object: ApiObject, resource: Resource): ApiObject {
  const apiVersion = apiVersionOf(resource);
  const renamed = object.apiVersion === apiVersion ? object : { ...object, apiVersion };
  if (!resource.custom) return renamed;
  const copy = cloneJson(renamed);
  resource.strategy.applyDefaults(copy);
  return copy;
}
