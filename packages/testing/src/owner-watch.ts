import type { KubeObject } from '@slipway/kube';

import type { TestCluster } from './test-cluster.ts';

/** Finalizers of the garbage collector. They are no reason to write a reference: it may have done its work a moment ago. */
const collecting = new Set(['orphan', 'foregroundDeletion']);

/**
 * Notes every owner reference that is written to an owner that is gone, or on its way out with nobody but the garbage
 * collector to hold it: what carries such a reference is deleted. Sees the embedded cluster only.
 *
 * @param isRecord objects that are nothing without their owner, so that going with it is all they can do
 */
export function watchOwnerReferences(
  cluster: TestCluster,
  isRecord: (object: KubeObject) => boolean = () => false,
): { verify(): void } {
  const stored = new Map<string, KubeObject>();
  const violations: string[] = [];
  cluster.embedded?.observe(({ type, object: now, previous: before }) => {
    const object = now as unknown as KubeObject;
    const previous = before as unknown as KubeObject | undefined;
    if (type === 'DELETED') {
      stored.delete(object.metadata.uid!);
      return;
    }
    stored.set(object.metadata.uid!, object);
    if (isRecord(object)) return;
    const had = new Set(previous?.metadata.ownerReferences?.map(({ uid }) => uid));
    for (const { uid, kind, name } of object.metadata.ownerReferences ?? []) {
      const problem = had.has(uid) ? undefined : problemWith(stored.get(uid));
      if (problem)
        violations.push(
          `${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name} got the owner ${kind} ${name}, which ${problem}`,
        );
    }
  });
  return {
    verify() {
      if (violations.length > 0) throw new Error(violations[0]);
    },
  };
}

function problemWith(owner: KubeObject | undefined): string | undefined {
  if (!owner) return 'is gone';
  if (owner.metadata.deletionTimestamp === undefined) return undefined;
  const held = owner.metadata.finalizers?.some((finalizer) => !collecting.has(finalizer)) ?? false;
  return held ? undefined : 'is on its way out';
}
