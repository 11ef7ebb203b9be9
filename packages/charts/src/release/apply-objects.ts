import { type DeleteOptions, isConflict, type KubeObject } from '@slipway/kube';

import { uninstallOrder, sortByKind } from '../render/kind-order.ts';
import { migrateFields } from './migrate-fields.ts';
import { identityOf, objectText, type ReleaseObject } from './objects.ts';
import type { Operation } from './operation.ts';
import { isKept, isOwnedBy, type Owner, withOwner } from './ownership.ts';
import { ReleaseError } from './release-error.ts';

export interface ApplyOptions {
  /** Take fields over from other managers instead of failing. Default false. */
  readonly forceConflicts?: boolean;
  /** The release was written client-side before: its ownership has to be moved. Default false. */
  readonly migrate?: boolean;
}

/**
 * Writes the objects of a release by server-side apply under Helm's name, in order. As with Helm an object that cannot be changed does not keep the rest
 * from it, one that cannot be made does.
 */
export async function applyObjects(
  operation: Operation,
  objects: readonly ReleaseObject[],
  owner: Owner,
  options: ApplyOptions = {},
): Promise<void> {
  const refusals: ReleaseError[] = [];
  for (const each of objects) {
    const { object, kind } = withOwner(each, owner);
    const { name, namespace } = object.metadata;
    const present = async () =>
      (await operation.client.get(kind, { name: name!, namespace })) as KubeObject | undefined;
    try {
      if (options.migrate) await migrateFields(operation.client, each, await present());
      await operation.client.apply(object, {
        fieldManager: 'helm',
        force: options.forceConflicts ?? false,
        fieldValidation: 'Strict',
      });
    } catch (error) {
      const hint = isConflict(error)
        ? 'somebody else wrote these fields; take them over with --force-conflicts'
        : 'the chart or its values have to be corrected';
      refusals.push(
        new ReleaseError('Refused', `${objectText(each)}: ${error instanceof Error ? error.message : String(error)}`, {
          hint,
          cause: error,
        }),
      );
      const isThere = await present().catch(() => undefined);
      if (isThere === undefined) break;
      continue;
    }
    operation.say({ type: 'applied', object: objectText(each) });
  }
  const [first, ...others] = refusals;
  if (first === undefined) return;
  if (others.length === 0) throw first;
  const texts = refusals.map(({ message }) => message).join('; ');
  throw new ReleaseError('Refused', texts, { hint: first.hint, cause: first });
}

/** Deletes what was in the old manifest and is not in the new one, unless the live object asks to stay. */
export async function dropObjects(
  operation: Operation,
  old: readonly ReleaseObject[],
  kept: readonly ReleaseObject[],
): Promise<void> {
  const wanted = new Set(kept.map(identityOf));
  const dropped = old.filter((each) => !wanted.has(identityOf(each)));
  for await (const [each, present] of leaving(operation, dropped))
    if (!isKept(present)) await operation.remove(each, false);
}

/** Deletes all objects of a release that goes, but for those its manifest keeps and those that belong to somebody else by now. Answers what stayed. */
export async function removeObjects(
  operation: Operation,
  objects: readonly ReleaseObject[],
  options: {
    readonly wait: boolean;
    readonly owner: Owner;
    readonly propagationPolicy?: DeleteOptions['propagationPolicy'];
  },
): Promise<{ readonly kept: readonly ReleaseObject[]; readonly foreign: readonly ReleaseObject[] }> {
  const kept = objects.filter(({ object }) => isKept(object));
  const foreign: ReleaseObject[] = [];
  const going = objects.filter(({ object }) => !isKept(object));
  for await (const [each, present] of leaving(operation, going)) {
    if (isOwnedBy(present, options.owner)) await operation.remove(each, options.wait, options.propagationPolicy);
    else foreign.push(each);
  }
  return { kept, foreign };
}

/** Those that are there, in the order in which they go. */
async function* leaving(
  operation: Operation,
  objects: readonly ReleaseObject[],
): AsyncGenerator<readonly [ReleaseObject, KubeObject]> {
  const ordered = sortByKind(
    objects.map((each) => ({ kind: each.object.kind, each })),
    uninstallOrder,
  );
  for (const { each } of ordered) {
    const { name, namespace } = each.object.metadata;
    const present = await operation.client.get(each.kind, { name: name!, namespace });
    if (present !== undefined) yield [each, present as KubeObject];
  }
}
