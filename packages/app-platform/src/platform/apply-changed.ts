import { isForbidden, isNotFound, type DeepReadonly, type KubeObject } from '@slipway/kube';
import { inParallel, isAppliedAlready, refKey, refOf } from '@slipway/manifests';

import { names } from '../names.ts';
import type { Platform } from './platform.ts';

const atATime = 8;
/** From this many objects of a kind on, one list costs less than an apply of each. */
const listFrom = 8;

type Access = Pick<Platform, 'client' | 'signal' | 'applied'>;

interface ApplyOptions {
  /** Takes fields from others. */
  readonly force: boolean;
  /** Told of an object that was refused; the others go on. Default: the refusal is thrown. */
  readonly onRefused?: (object: KubeObject, error: unknown) => void;
}

/** Server-side apply of many objects. Those that are on the cluster as they should be are looked at, not applied again. */
export async function applyChanged(
  access: Access,
  objects: readonly KubeObject[],
  options: ApplyOptions,
): Promise<void> {
  const { client, signal, applied } = access;
  const { fieldManager } = names;
  const live = await readMany(access, objects);
  await inParallel(objects, atATime, async (object) => {
    const present = live.get(refKey(refOf(object)));
    const isRight = present && !present.metadata.deletionTimestamp;
    if (isRight && (isAppliedAlready(object, present, fieldManager) || applied.knows(present, object, fieldManager)))
      return;
    try {
      const result = await client.apply(object, { fieldManager, force: options.force, signal });
      applied.remember(result, object, fieldManager);
    } catch (error) {
      signal.throwIfAborted();
      if (!options.onRefused) throw error;
      options.onRefused(object, error);
    }
  });
}

/** The objects of kinds that come in numbers, as the server has them. */
async function readMany(
  { client, signal }: Access,
  objects: readonly KubeObject[],
): Promise<ReadonlyMap<string, DeepReadonly<KubeObject>>> {
  const found = new Map<string, DeepReadonly<KubeObject>>();
  const kinds = Map.groupBy(objects, ({ apiVersion, kind }) => `${apiVersion}/${kind}`);
  await inParallel([...kinds.values()], atATime, async (members) => {
    if (members.length < listFrom) return;
    const { apiVersion, kind: name } = members[0]!;
    const namespaces = new Set(members.map(({ metadata }) => metadata.namespace));
    const [only] = namespaces;
    try {
      const kind = await client.resolve(apiVersion, name, { signal });
      const where = namespaces.size === 1 && only !== undefined ? { namespace: only } : {};
      for await (const item of client.list(kind, { ...where, signal }))
        found.set(refKey(refOf({ ...item, apiVersion, kind: name })), item);
    } catch (error) {
      // Whoever may not list may still apply; and what is not served yet is refused by the apply, with its name.
      if (!isForbidden(error) && !isNotFound(error)) throw error;
    }
  });
  return found;
}
