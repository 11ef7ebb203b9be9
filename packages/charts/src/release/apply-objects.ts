import { isConflict, type KubeObject } from '@slipway/kube';

import { uninstallOrder, sortByKind } from '../render/kind-order.ts';
import { migrateFields } from './migrate-fields.ts';
import { identityOf, objectText, type ReleaseObject } from './objects.ts';
import type { Operation } from './operation.ts';
import { isKept, type Owner, withOwner } from './ownership.ts';
import { ReleaseError } from './release-error.ts';

export interface ApplyOptions {
  /** Take fields over from other managers instead of failing. Default false. */
  readonly forceConflicts?: boolean;
  /** The release was written client-side before: its ownership has to be moved. Default false. */
  readonly migrate?: boolean;
}

/** Writes the objects of a release by server-side apply under Helm's name, in order. */
export async function applyObjects(
  operation: Operation,
  objects: readonly ReleaseObject[],
  owner: Owner,
  options: ApplyOptions = {},
): Promise<void> {
  for (const each of objects) {
    const { object, kind } = withOwner(each, owner);
    if (options.migrate) {
      const { name, namespace } = object.metadata;
      const present = await operation.client.get(kind, { name: name!, namespace });
      if (present !== undefined) await migrateFields(operation.client, each, present as KubeObject);
    }
    try {
      await operation.client.apply(object, {
        fieldManager: 'helm',
        force: options.forceConflicts ?? false,
        fieldValidation: 'Strict',
      });
    } catch (error) {
      const hint = isConflict(error)
        ? 'somebody else wrote these fields; take them over with --force-conflicts'
        : 'the chart or its values have to be corrected';
      throw new ReleaseError(
        'Refused',
        `${objectText(each)}: ${error instanceof Error ? error.message : String(error)}`,
        { hint, cause: error },
      );
    }
    operation.say({ type: 'applied', object: objectText(each) });
  }
}

/** Deletes what was in the old manifest and is not in the new one, unless the live object asks to stay. */
export async function dropObjects(
  operation: Operation,
  old: readonly ReleaseObject[],
  kept: readonly ReleaseObject[],
  options: { readonly wait: boolean; readonly owner: Owner },
): Promise<ReleaseObject[]> {
  const wanted = new Set(kept.map(identityOf));
  const stayed: ReleaseObject[] = [];
  const going = old.filter((each) => !wanted.has(identityOf(each)));
  const ordered = sortByKind(
    going.map((each) => ({ ...each, kind: each.object.kind, entry: each })),
    uninstallOrder,
  );
  for (const { entry } of ordered) {
    const { name, namespace } = entry.object.metadata;
    const present = await operation.client.get(entry.kind, { name: name!, namespace });
    if (present === undefined) continue;
    if (isKept(present as KubeObject)) stayed.push(entry);
    else await operation.remove(entry, options.wait);
  }
  return stayed;
}
