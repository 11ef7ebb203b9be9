import type { KubeObject } from '@slipway/kube';

import { uninstallOrder, sortByKind } from '../render/kind-order.ts';
import { migrateFields } from './migrate-fields.ts';
import { identityOf, objectText, type ReleaseObject } from './objects.ts';
import type { Operation, PropagationPolicy } from './operation.ts';
import { isKept, isOwnedBy, type Owner, withOwner } from './ownership.ts';
import { refusedObject } from './refusal.ts';
import { ReleaseError, textOf } from './release-error.ts';

export interface ApplyOptions {
  /** Take fields over from other managers instead of failing. Default false. */
  readonly forceConflicts?: boolean;
  /** The release was written client-side before: its ownership has to be moved. Default false. */
  readonly migrate?: boolean;
  /** An object that cannot be made does not keep the others from it. Default false. */
  readonly makesRest?: boolean;
}

/**
 * Writes the objects of a release by server-side apply under Helm's name, in order. As with Helm an object that cannot be changed does not keep the rest
 * from it; one that cannot be made does, unless nothing is there yet.
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
      if (options.migrate) await migrateFields(operation, each);
      await operation.apply(object, { force: options.forceConflicts ?? false });
    } catch (error) {
      // Nobody may go on.
      if (error instanceof ReleaseError) throw error;
      refusals.push(refusedObject(each, error));
      const isThere = await present().catch(() => undefined);
      if (isThere === undefined && !options.makesRest) break;
      continue;
    }
    operation.say({ type: 'applied', object: objectText(each) });
  }
  throwAll(refusals);
}

function throwAll(refusals: readonly ReleaseError[]): void {
  const [first, ...others] = refusals;
  if (first === undefined) return;
  if (others.length === 0) throw first;
  const texts = refusals.map(({ message }) => message).join('; ');
  throw new ReleaseError('Refused', texts, { hint: first.hint, cause: first });
}

/** Deletes objects; one that cannot be deleted does not keep the rest from it. */
class Removal {
  readonly #operation: Operation;
  readonly #propagationPolicy: PropagationPolicy | undefined;
  readonly #refusals: ReleaseError[] = [];

  constructor(operation: Operation, propagationPolicy?: PropagationPolicy) {
    this.#operation = operation;
    this.#propagationPolicy = propagationPolicy;
  }

  async remove(each: ReleaseObject): Promise<void> {
    await this.#operation.remove(each, false, this.#propagationPolicy).catch((cause: unknown) => {
      if (cause instanceof ReleaseError) throw cause;
      const text = `${objectText(each)} cannot be deleted: ${textOf(cause)}`;
      this.#refusals.push(new ReleaseError('Refused', text, { hint: 'the message says who keeps it', cause }));
    });
  }

  end(): void {
    throwAll(this.#refusals);
  }
}

/** Deletes what was in the old manifest and is not in the new one, unless the live object asks to stay. */
export async function dropObjects(
  operation: Operation,
  old: readonly ReleaseObject[],
  kept: readonly ReleaseObject[],
): Promise<void> {
  const wanted = new Set(kept.map(identityOf));
  const dropped = old.filter((each) => !wanted.has(identityOf(each)));
  const removal = new Removal(operation);
  for await (const [each, present] of leaving(operation, dropped)) if (!isKept(present)) await removal.remove(each);
  removal.end();
}

/** Deletes all objects of a release that goes, but for those its manifest keeps and those that belong to somebody else by now. Answers what stayed, and went. */
export async function removeObjects(
  operation: Operation,
  objects: readonly ReleaseObject[],
  owner: Owner,
  propagationPolicy?: PropagationPolicy,
): Promise<Record<'kept' | 'foreign' | 'removed', readonly ReleaseObject[]>> {
  const kept = objects.filter(({ object }) => isKept(object));
  const going = objects.filter(({ object }) => !isKept(object));
  return { kept, ...(await removeOwned(operation, going, owner, propagationPolicy)) };
}

/** Deletes objects, but for those that belong to somebody else by now. */
async function removeOwned(
  operation: Operation,
  objects: readonly ReleaseObject[],
  owner: Owner,
  propagationPolicy?: PropagationPolicy,
): Promise<Record<'foreign' | 'removed', readonly ReleaseObject[]>> {
  const foreign: ReleaseObject[] = [];
  const removed: ReleaseObject[] = [];
  const removal = new Removal(operation, propagationPolicy);
  for await (const [each, present] of leaving(operation, objects)) {
    if (isOwnedBy(present, owner)) {
      await removal.remove(each);
      removed.push(each);
    } else foreign.push(each);
  }
  removal.end();
  return { foreign, removed };
}

/** Removes what failed work made, but nothing that is somebody else's by now. */
export async function cleanUp(
  operation: Operation,
  made: readonly ReleaseObject[],
  owner: Owner,
  failure: unknown,
): Promise<void> {
  try {
    await removeOwned(operation, made, owner);
  } catch (error) {
    throw new ReleaseError('Refused', `${textOf(failure)}; what it made cannot be removed: ${textOf(error)}`, {
      cause: failure,
    });
  }
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
    // One whose name the server chose, in a record of Helm 3, cannot be found again.
    if (!name) continue;
    const present = await operation.client.get(each.kind, { name, namespace });
    if (present !== undefined) yield [each, present as KubeObject];
  }
}
