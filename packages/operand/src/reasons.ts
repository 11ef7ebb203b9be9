import { defineReasons, type ConditionWith, type ReasonOf } from '@slipway/runtime';

/** Every reason the conditions of the three kinds can carry, and what to do about it. */
export const reasons = defineReasons({
  Operand: {
    Installed: { meaning: 'The manifest is on the cluster and, when asked for, healthy.', action: '' },
    Active: { meaning: 'The wanted set is the active one; what left the set has been pruned.', action: '' },
    Creating: {
      meaning: 'A new set is being rolled out; the one before stays until the new one is ready.',
      action: '',
    },
    Progressing: { meaning: 'The operator is at work and has nothing to report yet.', action: '' },
    Waiting: {
      meaning: 'Applied, but not healthy yet. The message names what it waits for.',
      action: 'If it takes longer than it should, look at the named object: kubectl describe it and its pods.',
    },
    Failed: {
      meaning: 'An object was refused or has failed. The message names it. Objects of later waves were not touched.',
      action: 'Correct the named object in the manifest, or what refuses it (permissions, quota, a webhook).',
    },
    InvalidManifest: {
      meaning: 'The manifest cannot be used as it is. Nothing on the cluster was touched.',
      action: 'Correct the field the message names.',
    },
    ProgressDeadlineExceeded: {
      meaning: 'The manifest was not ready within spec.progressDeadlineSeconds.',
      action: 'Look at the object the message names, or raise the deadline.',
    },
    RolledBack: {
      meaning: 'The wanted manifest failed and the last ready one is in force again (spec.onFailure: Rollback).',
      action: 'Correct the manifest; any change of the spec starts a new attempt.',
    },
    Kept: { meaning: 'The manifest that is in force is kept, so that a failed change can be rolled back.', action: '' },
    ManifestTooLarge: {
      meaning: 'The manifest does not fit where it is kept for a roll-back; a failed change will not be rolled back.',
      action: 'Move parts of the manifest into ConfigMaps or Secrets and name them in spec.steadyStateFrom.',
    },
    ManifestNotKept: {
      meaning: 'The manifest could not be kept for a roll-back; the message says what refused it.',
      action: 'Allow the operator to write Secrets in the namespace the message names, or set spec.onFailure to Hold.',
    },
    KeptManifestTampered: {
      meaning: 'A Secret with a part of the last ready manifest is not what was kept there. Nothing of it is applied.',
      action: 'Correct the manifest, and find out who may write Secrets in the namespace the message names.',
    },
    KeptManifestGone: {
      meaning: 'A Secret with a part of the last ready manifest is gone, so that it cannot be brought back.',
      action: 'Correct the manifest.',
    },
    PruneRefused: {
      meaning:
        'More objects left the set than spec.maxPrunePercent allows to prune, or all of them did because the manifest is empty.',
      action:
        'Check the manifest; if it is right, annotate the Operand with operand.slipway.dev/approve-prune and the generation, or set spec.allowEmpty for a manifest that may be empty.',
    },
    PruneFailed: {
      meaning: 'An object that left the set could not be deleted.',
      action: 'Look at the object the message names: its finalizers, a webhook, permissions.',
    },
    DeleteFailed: {
      meaning: 'The Operand is being deleted, and a request of the clean-up is refused. The message names it.',
      action: 'Allow the request (a role, a webhook, a policy); it is tried again by itself.',
    },
    Pruning: {
      meaning: 'The manifest is in force; what superseded sets left behind is still to be pruned.',
      action: '',
    },
    Planned: {
      meaning: 'spec.mode is Plan: status.plan shows what Apply would do.',
      action: 'Set spec.mode to Apply to do it.',
    },
    Applied: { meaning: 'spec.mode is Apply; there is no plan to show.', action: '' },
  },
  ClusterActiveOperand: {
    Owned: { meaning: 'All members exist and are owned by this set.', action: '' },
    Injected: { meaning: 'All cluster-scoped members carry the owner reference.', action: '' },
    Ready: { meaning: 'The ActiveOperands of all namespaces are ready.', action: '' },
    Error: {
      meaning: 'A member does not exist yet or could not be given its owner. The message names it.',
      action: 'Usually passes while the Operand installs; otherwise look at the named object.',
    },
  },
});

export type OperandReason = ReasonOf<typeof reasons.rows, 'Operand'>;
export type OperandCondition = ConditionWith<OperandReason>;

/** A condition of an Operand. */
export const operandCondition = reasons.conditionOf('Operand');

/** A condition of a set, cluster-wide or of one namespace. */
export const conditionOfSet = reasons.conditionOf('ClusterActiveOperand');
