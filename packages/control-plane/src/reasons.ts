import type { ReasonExplanation } from '@slipway/runtime';

const rows: Readonly<Record<string, readonly [meaning: string, action: string]>> = {
  NoConditions: [
    'The component has not said anything yet.',
    'Wait; if it stays so, look whether its controller runs or the component is disabled.',
  ],
  WaitingForDependencies: [
    'A component this one needs is not ready, or has not seen the newest spec.',
    'Look at the conditions of that component.',
  ],
  DeletionWaitingForDependingComponents: [
    'Other components still need this one.',
    'Wait until they are gone; look at their conditions if it takes long.',
  ],
  DependencyStatusInvalid: [
    'A component this one needs is ready but lacks something.',
    'Annotate that component with openmcp.cloud/operation=reconcile.',
  ],
  ReconciliationError: ['Something went wrong.', 'Read the message of the reconciliation condition.'],
  MissingExpectedCondition: [
    'The component did not say how it is.',
    'This is a mistake of the component; tell its author.',
  ],
  InvalidManagedControlPlaneLabels: [
    'The labels that say what the component was made from are missing or wrong.',
    'Annotate the ManagedControlPlane with openmcp.cloud/operation=reconcile.',
  ],
  ConfigurationProblem: [
    'The operator is configured wrongly.',
    'Read the message; the operator of the landscape has to mend it.',
  ],
  CrateClusterInteractionProblem: [
    'Something on the onboarding cluster is missing or could not be written.',
    'Read the message.',
  ],
  APIServerAccessProvisioningNotPossible: [
    'Our own access to the control plane could not be set up.',
    'Read the message; an object on the control plane may be in the way.',
  ],
  WaitingForAPIServer: ['The API server of the control plane is starting or ending.', 'Wait a moment.'],
  ManagingOpenIDConnectResourcesProblem: [
    'The identity providers could not be set up.',
    'Read the message and correct spec.authentication.',
  ],
  AllComponentsReconciledSuccessfully: ['All components are as they should be.', ''],
  NotAllComponentsReconciledSuccessfully: ['At least one component failed.', 'The message names them.'],
};

/** Every reason a condition of the control plane can give. */
export const reasons: readonly ReasonExplanation[] = Object.entries(rows).map(([reason, [meaning, action]]) => ({
  reason,
  kind: 'ManagedControlPlane',
  meaning,
  action,
}));
