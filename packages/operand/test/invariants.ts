import { findCondition, isConditionTrue, type KubeObject } from '@slipway/kube';
import { mayPrune, memberLabel, refKey, refOf, refText } from '@slipway/manifests';
import { laneOfCaller, type TestCluster } from '@slipway/testing';

import { Operand, type ClusterActiveOperand } from '../src/api.ts';
import { carryOverIn } from '../src/operand/carry-over.ts';
import { activeOperandName, liveRefs, mergedManifest, saltedName } from '../src/live-refs.ts';
import { names } from '../src/names.ts';

/**
 * Watches everything the server stores and notes each moment in which an invariant of the Operand does not hold. Knows only
 * the API: neither the controllers nor their memory. See docs/operand-invariants.md.
 *
 * A write that is on its way while the spec changes cannot know it. So what a run does to a member is judged by the Operand
 * that this run has read; what nobody's run does, such as the garbage collector, by the one there is.
 *
 * @param deletedByHand uids of members the story itself deletes
 */
export function watchInvariants(
  cluster: TestCluster,
  deletedByHand: ReadonlySet<string | undefined> = new Set(),
): { verify(): void } {
  const operands = new Map<string, Operand>();
  const sets = new Map<string, ClusterActiveOperand>();
  /** By who is at work: the Operand as it was read last. */
  const read = new Map<string, Operand>();
  const violations: string[] = [];

  const check = (): void => {
    for (const operand of operands.values()) {
      const owned = [...sets.values()].filter((set) =>
        set.metadata.ownerReferences?.some((owner) => owner.uid === operand.metadata.uid),
      );
      if (owned.length > 2) violations.push(`I1: ${owned.length} sets of ${operand.metadata.name} exist`);
      const created = operand.status?.latestCreatedActiveOperand;
      const ready = operand.status?.latestReadyActiveOperand;
      for (const set of owned) {
        const name = set.metadata.name;
        if (name !== created && name !== ready)
          violations.push(`I2: set ${name} exists but status names ${created} and ${ready}`);
      }
      checkStatus(operand, violations);
    }
  };

  cluster.embedded?.intercept(({ verb, resource }, phase) => {
    if (phase !== 'before' || verb !== 'get' || resource?.plural !== Operand.plural) return;
    const found = operands.values().find(({ metadata }) => metadata.name === resource.name);
    if (found) read.set(laneOfCaller(), found);
  });
  cluster.embedded?.observe(({ type, object: stored }) => {
    const object = stored as unknown as KubeObject;
    if (object.apiVersion.startsWith(`${names.group}/`) && object.kind !== 'ActiveOperand') {
      const known: Map<string, KubeObject> = object.kind === 'Operand' ? operands : sets;
      if (type === 'DELETED') known.delete(object.metadata.uid!);
      else known.set(object.metadata.uid!, object);
      check();
      return;
    }
    const known = laneOfCaller() === '' ? undefined : read.get(laneOfCaller());
    const judged = operands.values().map((operand) => asRead(operand, known));
    checkMember(type, object, judged, violations, deletedByHand);
  });
  return {
    verify() {
      if (violations.length > 0) throw new Error(`${violations.length} violations, first: ${violations[0]}`);
    },
  };
}

function checkStatus(operand: Operand, violations: string[]): void {
  const { status, metadata, spec } = operand;
  if (!status || status.observedGeneration !== metadata.generation) return;
  const installed = status.latestInstalledSteadyStateGeneration ?? 0;
  if (installed !== 0 && installed !== metadata.generation)
    violations.push(`I9: installed generation ${installed} while ${metadata.generation} is observed`);
  if (isConditionTrue(operand, 'Ready') && carryOverIn(status).length > 0)
    violations.push(`I16: Ready while ${carryOverIn(status).length} objects are left to prune`);
  // After a roll-back the wanted set is the one before, which the spec does not show any more.
  if (!isConditionTrue(operand, 'LatestActiveOperandReady') || isRolledBack(operand)) return;
  const plain = activeOperandName(
    liveRefs(mergedManifest((spec.steadyState ?? []) as KubeObject[], (spec.postInstall ?? []) as KubeObject[])),
  );
  const desired = new Set([plain, saltedName(plain, metadata.uid!)]);
  const { latestCreatedActiveOperand: created = '', latestReadyActiveOperand: ready = '' } = status;
  if (created !== ready || !desired.has(ready))
    violations.push(
      `I5: ready condition is ${findCondition(operand, 'LatestActiveOperandReady')?.status} with created ${created}, ready ${ready}, desired ${plain}`,
    );
}

/** The Operand with the wish that whoever is at work has read. */
function asRead(operand: Operand, read: Operand | undefined): Operand {
  if (!read || read.metadata.uid !== operand.metadata.uid) return operand;
  const { generation } = read.metadata;
  return { ...operand, metadata: { ...operand.metadata, generation }, spec: read.spec } as Operand;
}

function isRolledBack({ status, metadata }: Operand): boolean {
  return status?.rolledBackGeneration === metadata.generation;
}

function checkMember(
  type: string,
  object: KubeObject,
  operands: Iterable<Operand>,
  violations: string[],
  deletedByHand: ReadonlySet<string | undefined>,
): void {
  const text = refText(refOf(object));
  const owned =
    object.metadata.ownerReferences?.some((owner) => owner.apiVersion.startsWith(`${names.group}/`)) ?? false;
  if (owned && (object.kind === 'Namespace' || object.kind === 'CustomResourceDefinition'))
    violations.push(`I11: ${text} has an owner`);
  if (type === 'ADDED' && object.metadata.labels?.[memberLabel] !== undefined && mayPrune(object) && !owned)
    violations.push(`I17: ${text} was created without an owner`);
  if (object.metadata.annotations?.['meta.helm.sh/release-name'] !== undefined) {
    if (owned) violations.push(`I18: ${text}, whose adoption was refused, got an owner`);
    if (type === 'DELETED') violations.push(`I18: ${text}, whose adoption was refused, was deleted`);
  }
  for (const operand of operands) {
    if (operand.metadata.deletionTimestamp !== undefined || isRolledBack(operand)) continue;
    const steady = ((operand.spec.steadyState ?? []) as KubeObject[]).some(
      (member) => refKey(refOf(member)) === refKey(refOf(object)),
    );
    const post = ((operand.spec.postInstall ?? []) as KubeObject[]).some(
      (member) => refKey(refOf(member)) === refKey(refOf(object)),
    );
    if (type === 'DELETED' && (steady || post) && !deletedByHand.has(object.metadata.uid))
      violations.push(`I8: ${text} was deleted while ${operand.metadata.name} wants it`);
    if (
      type === 'ADDED' &&
      post &&
      !steady &&
      operand.status?.latestInstalledSteadyStateGeneration !== operand.metadata.generation
    ) {
      violations.push(
        `I10: ${text} of post-install was created before the steady state of generation ${operand.metadata.generation} was ready`,
      );
    }
  }
}
