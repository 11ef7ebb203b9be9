import type { CacheEvent, KubeObject, ObjectMeta } from '@slipway/kube';

/**
 * Whether an event is worth a reconciliation. `event.object` and `event.old` are parsed when first read, so look at
 * `event.meta` and `event.oldMeta` when that is enough.
 */
export type Predicate<T extends KubeObject = KubeObject> = (event: CacheEvent<T>) => boolean;

type Meta = CacheEvent['meta'];

/** An update counts when `differs` says so; objects that come and go always count. */
function onUpdate(differs: (now: Meta, before: Meta) => boolean): Predicate {
  return (event) => event.type !== 'updated' || event.oldMeta === undefined || differs(event.meta, event.oldMeta);
}

function sameEntries(a: Meta['labels'], b: Meta['labels']): boolean {
  const left = Object.entries(a ?? {});
  return left.length === Object.keys(b ?? {}).length && left.every(([name, value]) => b?.[name] === value);
}

/** Ignores updates that leave `metadata.generation` alone, such as those of the status. */
export const generationChanged: Predicate = (event) => {
  const { generation, oldGeneration } = event;
  // The server counts a request to delete as a new generation, so two numbers tell all and no metadata is parsed.
  if (event.type === 'updated' && generation && oldGeneration) return generation !== oldGeneration;
  return otherMetadata(event);
};

const otherMetadata = onUpdate(
  (now, before) => now.generation !== before.generation || now.deletionTimestamp !== before.deletionTimestamp,
);

export const labelsChanged: Predicate = onUpdate((now, before) => !sameEntries(now.labels, before.labels));

export const annotationsChanged: Predicate = onUpdate(
  (now, before) => !sameEntries(now.annotations, before.annotations),
);

export const finalizersChanged: Predicate = onUpdate(
  (now, before) => (now.finalizers ?? []).join() !== (before.finalizers ?? []).join(),
);

/** Ignores updates that change nothing at all, such as those of a reload. */
export const resourceVersionChanged: Predicate = onUpdate(
  (now, before) => now.resourceVersion !== before.resourceVersion,
);

/** Only deletions: the object is gone, or somebody asked for it to go. */
export const deletion: Predicate = (event) => event.type === 'deleted' || event.meta.deletionTimestamp !== undefined;

/** Only objects whose metadata `test` accepts. */
export function metadata(test: (meta: CacheEvent['meta']) => boolean): Predicate {
  return (event) => test(event.meta);
}

/** Only objects with all of `labels`. */
export function hasLabels(labels: NonNullable<ObjectMeta['labels']>): Predicate {
  return metadata((meta) => Object.entries(labels).every(([name, value]) => meta.labels?.[name] === value));
}

export function and<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.every((predicate) => predicate(event));
}

export function or<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.some((predicate) => predicate(event));
}

export function not<T extends KubeObject>(predicate: Predicate<T>): Predicate<T> {
  return (event) => !predicate(event);
}
