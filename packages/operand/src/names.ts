import { fittedName, longestFieldManager, membershipOf, type Membership } from '@slipway/manifests';

/** Labels, annotations, finalizers and limits of the Operand kinds, in one place. */
export const names = {
  group: 'operand.run.cloud.google.com',
  operandFinalizer: 'operands.operand.run.cloud.google.com',
  /** On the ClusterActiveOperand of an Operand: keeps it until no wanted object depends on it alone. */
  setFinalizer: 'clusteractiveoperands.operand.run.cloud.google.com',
  /** On a ClusterActiveOperand: the Operand it belongs to (cut to a label's 63 characters; the owner reference is what counts). */
  ownerNameLabel: 'clusteractiveoperand.kuberun.cloud.google.com/owner-name',
  /** On an ActiveOperand: the uid of the ClusterActiveOperand it mirrors. */
  mirrorOfLabel: 'operand.slipway.dev/cluster-active-operand-uid',
  /** On an Operand: who stamped it. */
  stamperNameLabel: 'operand.kuberun.cloud.google.com/owner-name',
  stamperNamespaceLabel: 'operand.kuberun.cloud.google.com/owner-ns',
  /** On an Operand: the same in one piece, `namespace/name`; labels are too short for some names. */
  stamperAnnotation: 'operand.slipway.dev/stamped-for',
  /** On a ConfigMap or Secret used as a source: changes are picked up at once. */
  sourceLabel: 'operand.slipway.dev/source',
  /** On a Secret: the set whose manifest, or part of it, it keeps for a roll-back. */
  keptManifestLabel: 'operand.slipway.dev/manifest-of',
  /** On an Operand: lets one prune go past `maxPrunePercent`; the value is the generation it is meant for. */
  approvePruneAnnotation: 'operand.slipway.dev/approve-prune',
} as const;

/** The field manager of one Operand. One each: two Operands that share an object must not take each other's references away. */
export function fieldManagerOf(operandName: string): string {
  return fittedName(`operand-${operandName}`, longestFieldManager);
}

/** How the members of an Operand are marked. */
export function operandMembership(name: string): Membership {
  return membershipOf(`Operand.operand.run.cloud.google.com/${name}`);
}

/** A label value from a name that may be longer than labels allow. */
export function labelValue(name: string): string {
  return name.slice(0, 63).replace(/[^A-Za-z0-9]+$/, '');
}
