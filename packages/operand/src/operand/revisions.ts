import { type DeepReadonly, isConditionTrue, type KubeObject } from '@slipway/kube';
import { mayPrune, refKey, refOf } from '@slipway/manifests';

import { ClusterActiveOperand } from '../api.ts';
import { activeOperandName, liveRefs, saltedName, toObjectRef, type LiveRef } from '../live-refs.ts';
import { memberReferenceTo } from '../set-references.ts';
import type { Manifest, OperandReading } from './run.ts';

/** A ClusterActiveOperand as it is on the server. */
export interface Revision {
  readonly name: string;
  readonly object: DeepReadonly<ClusterActiveOperand>;
  /** Owned by this very Operand; a foreign one is neither used nor deleted. */
  readonly ours: boolean;
  /** On its way out: never counts as existing and ready. */
  readonly terminating: boolean;
  readonly ready: boolean;
  readonly live: readonly DeepReadonly<LiveRef>[];
}

/** The sets of an Operand: the one it wants, the one it is working towards, and the one in force. */
export interface Revisions {
  /** Name the desired set has or will have. */
  readonly desired: string;
  readonly refs: readonly LiveRef[];
  /** `status.latestCreatedActiveOperand`; `''` when there is none. */
  readonly created: string;
  /** `status.latestReadyActiveOperand`; `''` when there is none. */
  readonly ready: string;
  /** What exists under these names. */
  readonly byName: ReadonlyMap<string, Revision>;
}

/** Reads the sets straight from the server: what is decided here deletes objects, a stale cache will not do. */
export async function readRevisions(run: OperandReading, manifest: Manifest): Promise<Revisions> {
  const { operand } = run;
  const created = operand.status?.latestCreatedActiveOperand ?? '';
  const ready = operand.status?.latestReadyActiveOperand ?? '';
  const refs = liveRefs(manifest.merged);
  const plain = activeOperandName(refs);
  const salted = saltedName(plain, operand.metadata.uid!);
  const byName = new Map<string, Revision>();
  await Promise.all(
    [...new Set([plain, salted, created, ready])].filter(Boolean).map(async (name) => {
      const object = await run.context.client.get(ClusterActiveOperand, { name });
      if (object) byName.set(name, toRevision(run, object));
    }),
  );
  // Once salted, always salted: the plain name may become free later, but switching would cost a roll for nothing.
  const suffix = salted.slice(plain.length);
  const taken = byName.get(plain)?.ours === false;
  const desired = taken || created.endsWith(suffix) || ready.endsWith(suffix) ? salted : plain;
  return { desired, refs, created, ready, byName };
}

export function toRevision(run: OperandReading, object: DeepReadonly<ClusterActiveOperand>): Revision {
  const controller = object.metadata.ownerReferences?.find((reference) => reference.controller === true);
  return {
    name: object.metadata.name!,
    object: { ...object, apiVersion: ClusterActiveOperand.apiVersion, kind: ClusterActiveOperand.kind },
    ours: controller?.uid === run.operand.metadata.uid,
    terminating: object.metadata.deletionTimestamp !== undefined,
    ready: isConditionTrue(object, 'Ready') && object.status?.observedGeneration === object.metadata.generation,
    live: object.spec.live ?? [],
  };
}

/**
 * Puts the owner references into the objects themselves, so that object and ownership appear in one write: there is no
 * moment in which a crash leaves an object nobody owns. Every living set that has the object is named, because an apply that
 * leaves one out takes it away.
 */
export function withOwners(
  objects: readonly DeepReadonly<KubeObject>[],
  revisions: readonly (Revision | undefined)[],
): KubeObject[] {
  const owners = [
    ...new Map(
      revisions.filter((revision) => revision !== undefined).map((revision) => [revision.name, revision]),
    ).values(),
  ]
    .filter((revision) => revision.ours && !revision.terminating)
    .map((revision) => ({
      reference: memberReferenceTo(revision.object),
      members: new Set(revision.live.map((ref) => refKey(toObjectRef(ref)))),
    }));
  return objects.map((object) => {
    const key = refKey(refOf(object));
    const references = mayPrune(object)
      ? owners.filter(({ members }) => members.has(key)).map(({ reference }) => reference)
      : [];
    const own = object.metadata.ownerReferences ?? [];
    const ownerReferences = [...own, ...references];
    return {
      ...object,
      metadata: { ...object.metadata, ...(ownerReferences.length > 0 ? { ownerReferences } : {}) },
    } as KubeObject;
  });
}
