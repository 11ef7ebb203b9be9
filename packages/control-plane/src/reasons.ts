import { defineReasons, type ReasonOf } from '@slipway/runtime';

const table = defineReasons({
  ManagedControlPlane: {
    NoConditions: {
      meaning: 'The component has not said anything yet.',
      action: 'Wait; if it stays so, look whether its controller runs or the component is disabled.',
    },
    ComponentIgnored: {
      meaning: 'Somebody has the component ignored; it is neither changed nor deleted.',
      action: 'Remove the annotation openmcp.cloud/operation from the component when that is to end.',
    },
    DuplicateCondition: {
      meaning: 'Two components have a condition of the same type.',
      action: 'Tell the author of the component the message names first: it has to rename its condition.',
    },
    WaitingForDependencies: {
      meaning: 'A component this one needs is not ready, or has not seen the newest spec.',
      action: 'Look at the conditions of that component.',
    },
    DeletionWaitingForDependingComponents: {
      meaning: 'Other components still need this one.',
      action: 'Wait until they are gone; look at their conditions if it takes long.',
    },
    DependencyStatusInvalid: {
      meaning: 'A component this one needs is ready but lacks something.',
      action: 'Annotate that component with openmcp.cloud/operation=reconcile.',
    },
    ReconciliationError: {
      meaning: 'Something went wrong.',
      action: 'Read the message of the reconciliation condition.',
    },
    MissingExpectedCondition: {
      meaning: 'The component did not say how it is.',
      action: 'This is a mistake of the component; tell its author.',
    },
    InvalidManagedControlPlaneLabels: {
      meaning: 'The labels that say what the component was made from are missing or wrong.',
      action: 'Annotate the ManagedControlPlane with openmcp.cloud/operation=reconcile.',
    },
    ConfigurationProblem: {
      meaning: 'The operator is configured wrongly.',
      action: 'Read the message; the operator of the landscape has to mend it.',
    },
    CrateClusterInteractionProblem: {
      meaning: 'Something on the onboarding cluster is missing or could not be written.',
      action: 'Read the message.',
    },
    APIServerAccessProvisioningNotPossible: {
      meaning: 'Our own access to the control plane could not be set up.',
      action: 'Read the message; an object on the control plane may be in the way.',
    },
    WaitingForAPIServer: {
      meaning: 'The API server of the control plane is starting or ending.',
      action: 'Wait a moment.',
    },
    APIServerUnreachable: {
      meaning: 'The API server of the control plane does not answer, or not as one does.',
      action: 'Check that it runs and that its address is right; the rest follows by itself.',
    },
    APIServerAccessRefused: {
      meaning: 'The API server of the control plane does not accept our credentials.',
      action: 'Renew the kubeconfig the message names.',
    },
    APIServerIdentityChanged: {
      meaning: 'At the address of the control plane there is another cluster than before.',
      action: 'Correct the address; if the other cluster is meant, delete the Secret the message names.',
    },
    UpToDate: { meaning: 'The API server runs in the version it is to have.', action: '' },
    Upgrading: { meaning: 'The API server is being brought to another version.', action: 'Wait a moment.' },
    UpgradeRefused: {
      meaning: 'The configured version cannot be reached from the one that runs.',
      action: 'Configure the version in between that the message names.',
    },
    ManagingOpenIDConnectResourcesProblem: {
      meaning: 'The identity providers could not be set up.',
      action: 'Read the message and correct spec.authentication.',
    },
    ManagingAuthorizationResourcesProblem: {
      meaning: 'Roles or bindings on the control plane could not be set up.',
      action: 'Read the message; an object on the control plane may be in the way.',
    },
    WaitingForLaaS: {
      meaning: 'The Landscaper service has not finished.',
      action: 'Read the message; wait, or ask whoever runs the service.',
    },
    LaaSCoreClusterInteractionProblem: {
      meaning: 'The cluster of the Landscaper service holds something unexpected.',
      action: 'Read the message.',
    },
    WaitingForCloudOrchestrator: {
      meaning: 'A part of the control plane is being installed.',
      action: 'Wait; the message names the part.',
    },
    UnhealthyControlPlaneConditions: {
      meaning: 'Somebody installs the parts of the control plane and is not content.',
      action: 'Look at the conditions the message names.',
    },
    COCoreClusterInteractionProblem: {
      meaning: 'A part of the control plane could not be installed.',
      action: 'Read the message.',
    },
    ComponentIsInDeletion: { meaning: 'What the component made is being removed.', action: 'Wait a moment.' },
    WaitingForGardenerShoot: {
      meaning: 'The shoot is not ready, or not gone yet.',
      action: 'Read the message; a shoot takes minutes.',
    },
    ShootIdentificationNotPossible: {
      meaning: 'Several shoots claim to be this control plane.',
      action: 'Remove all but one.',
    },
    ClusterRequestNotGranted: {
      meaning: 'The platform has not given a cluster yet.',
      action: 'Look at the ClusterRequest on the platform.',
    },
    ClusterNotReady: {
      meaning: 'The cluster of the platform is not ready.',
      action: 'Look at the Cluster on the platform.',
    },
    AccessRequestNotGranted: {
      meaning: 'The platform has not given access yet.',
      action: 'Look at the AccessRequest on the platform.',
    },
    AccessRequestNotDeleted: { meaning: 'The access is being taken back.', action: 'Wait a moment.' },
    ClusterRequestNotDeleted: { meaning: 'The cluster is being given back.', action: 'Wait a moment.' },
    PlatformClusterInteractionProblem: {
      meaning: 'The platform gave something unexpected.',
      action: 'Read the message.',
    },
    InternalError: { meaning: 'Something does not fit together.', action: 'Read the message.' },
    AllComponentsReconciledSuccessfully: { meaning: 'All components are as they should be.', action: '' },
    NotAllComponentsReconciledSuccessfully: {
      meaning: 'At least one component failed.',
      action: 'The message names them.',
    },
  },
});

/** Every reason a condition of the control plane can give. */
export const reasons = table.explanations;

export type ControlPlaneReason = ReasonOf<typeof table.rows, 'ManagedControlPlane'>;

declare const own: unique symbol;

/** A reason of a component that is not ours, made by {@link ownReason}. */
export type OwnReason = string & { readonly [own]: true };

/** What a condition may give as its reason. */
export type Reason = ControlPlaneReason | OwnReason;

/** A reason of somebody's own component. The contract wants a CamelCase word, which programs can evaluate. */
export function ownReason(word: string): OwnReason {
  if (!/^[A-Z][A-Za-z0-9]*$/.test(word)) throw new TypeError(`'${word}' is no reason: give one CamelCase word`);
  return word as OwnReason;
}
