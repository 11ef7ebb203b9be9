import { isConflict, isTransient } from '@slipway/kube';
import { defineReasons, type ReasonExplanation } from '@slipway/runtime';

import type { State } from './api.ts';

/** A row of the table of conditions. */
export interface ReasonRow {
  readonly state: State;
  /** Status of the `Ready` condition. */
  readonly ready: boolean;
  /** What it means. */
  readonly meaning: string;
  /** What the user does about it. */
  readonly action: string;
  /** Number of the row in the documentation of the original; absent for what came with an option of ours. */
  readonly row?: number;
  /** The manager never sets it; it is here because programs may have learnt the word. */
  readonly reserved?: true;
}

const nothing = 'Nothing.';
const wait = 'Wait; it goes on by itself.';
const askOperator = 'Read the message; it names the object and what the API server said. It is tried again by itself.';

/** Every reason the `Ready` condition of a BtpOperator may have. The documentation is made from this table. */
export const reasons = {
  ReconcileSucceeded: { row: 1, state: 'Ready', ready: true, meaning: 'Reconciled successfully', action: nothing },
  UpdateCheckSucceeded: { row: 2, state: 'Ready', ready: true, meaning: 'Update not required', action: nothing },
  UpdateDone: { row: 3, state: 'Ready', ready: true, meaning: 'Update done', action: nothing },
  ClusterIdChanged: {
    row: 4,
    state: 'Processing',
    ready: false,
    meaning: 'Cluster ID changed',
    action: `${wait} The service operator is restarted with the new ID.`,
  },
  CredentialsNamespaceChanged: {
    row: 5,
    state: 'Processing',
    ready: false,
    meaning: 'Credentials namespace changed',
    action: `${wait} The credentials are put into the new namespace and then taken out of the old one.`,
  },
  Initialized: {
    row: 6,
    state: 'Processing',
    ready: false,
    meaning: 'Initial processing or chart is inconsistent',
    action: wait,
  },
  Processing: {
    row: 7,
    state: 'Processing',
    ready: false,
    meaning: 'Final State after deprovisioning',
    action: 'Everything is removed, but finalizers of others keep the object: see metadata.finalizers.',
  },
  UpdateCheck: { row: 8, state: 'Processing', ready: false, meaning: 'Checking for updates', action: wait },
  Updated: { row: 9, state: 'Processing', ready: false, meaning: 'Resource has been updated', action: wait },
  HardDeleting: {
    row: 10,
    state: 'Deleting',
    ready: false,
    meaning: 'Trying to hard delete',
    action: `${wait} At the latest after the hard-delete timeout it goes on with a soft delete.`,
  },
  SoftDeleting: {
    row: 11,
    state: 'Deleting',
    ready: false,
    meaning: 'Trying to soft-delete after hard-delete failed',
    action: `${wait} Services may be left in SAP BTP: check the subaccount.`,
  },
  AnnotatingSecretFailed: {
    row: 12,
    state: 'Error',
    ready: false,
    meaning: 'Annotating the required Secret failed',
    action: askOperator,
  },
  ChartInstallFailed: {
    row: 13,
    state: 'Error',
    ready: false,
    meaning: 'Failure during chart installation',
    action: 'See ProvisioningFailed, which is used instead.',
    reserved: true,
  },
  ChartPathEmpty: {
    row: 14,
    state: 'Error',
    ready: false,
    meaning: 'No chart path available for processing',
    action: 'Let --chart-path (or ChartPath) name a folder with a Chart.yaml.',
  },
  ConsistencyCheckFailed: {
    row: 15,
    state: 'Error',
    ready: false,
    meaning: 'Failure during consistency check',
    action:
      'The API server would refuse the new version; nothing was changed. Correct the resources the message names.',
  },
  DeletionOfOrphanedResourcesFailed: {
    row: 16,
    state: 'Error',
    ready: false,
    meaning: 'Deletion of orphaned resources failed',
    action: askOperator,
  },
  GettingConfigMapFailed: {
    row: 17,
    state: 'Error',
    ready: false,
    meaning: 'Getting ConfigMap failed',
    action: `The manager's own ConfigMap could not be read. ${askOperator}`,
  },
  GettingDefaultCredentialsSecretFailed: {
    row: 18,
    state: 'Error',
    ready: false,
    meaning: 'Getting default credentials Secret failed',
    action: askOperator,
  },
  GettingSapBtpServiceOperatorClusterIdSecretFailed: {
    row: 19,
    state: 'Error',
    ready: false,
    meaning: 'Getting SAP BTP service operator Cluster ID Secret failed',
    action: askOperator,
  },
  GettingSapBtpServiceOperatorConfigMapFailed: {
    row: 20,
    state: 'Error',
    ready: false,
    meaning: 'Getting SAP BTP service operator ConfigMap failed',
    action: askOperator,
  },
  InconsistentChart: {
    row: 21,
    state: 'Error',
    ready: false,
    meaning: 'Chart is inconsistent, reconciliation initialized',
    action: 'Correct the file and line the message names; the files are read again on the next try.',
  },
  InvalidSecret: {
    row: 22,
    state: 'Error',
    ready: false,
    meaning: '`sap-btp-manager` Secret does not contain required data - create proper Secret',
    action: 'Fill in the keys the message names.',
  },
  PreparingInstallInfoFailed: {
    row: 23,
    state: 'Error',
    ready: false,
    meaning: 'Error while preparing installation information',
    action: 'Read the message: an image, a container or a certificate is missing.',
  },
  ProvisioningFailed: {
    row: 24,
    state: 'Error',
    ready: false,
    meaning: 'Provisioning failed',
    action: askOperator,
  },
  ReconcileFailed: { row: 25, state: 'Error', ready: false, meaning: 'Reconciliation failed', action: askOperator },
  ResourceRemovalFailed: {
    row: 26,
    state: 'Error',
    ready: false,
    meaning: 'Some resources can still be present due to errors while deprovisioning',
    action: 'Remove what holds the objects the message names, such as finalizers of others.',
  },
  StoringChartDetailsFailed: {
    row: 27,
    state: 'Error',
    ready: false,
    meaning: 'Failure of storing chart details',
    action: 'The version is kept in the status and on the objects; there is nothing else to store.',
    reserved: true,
  },
  MissingSecret: {
    row: 28,
    state: 'Warning',
    ready: false,
    meaning: '`sap-btp-manager` Secret was not found - create proper Secret',
    action: 'Create the Secret, with its `app.kubernetes.io/managed-by` label.',
  },
  ServiceInstancesAndBindingsNotCleaned: {
    row: 29,
    state: 'Warning',
    ready: false,
    meaning: 'Deprovisioning blocked because of ServiceInstances and/or ServiceBindings existence',
    action: 'Delete them, or label the BtpOperator with `force-delete: "true"`.',
  },
  WrongNamespaceOrName: {
    row: 30,
    state: 'Warning',
    ready: false,
    meaning: 'Wrong namespace or name',
    action: 'Delete this object and create `btpoperator` in the namespace `kyma-system`.',
  },
  OlderCRExists: {
    state: 'Warning',
    ready: false,
    meaning: 'This CR is not the oldest one so does not represent the module State',
    action: 'Look at the object the message names. Only with --singleton=oldest.',
  },
} as const satisfies Record<string, ReasonRow>;

export type Reason = keyof typeof reasons;

const table = defineReasons({ BtpOperator: reasons });

/** For `slipway explain`, which says nothing where there is nothing to do. */
export const explanations: readonly ReasonExplanation[] = table.explanations
  .filter(({ reason }) => !(reasons as Record<string, ReasonRow>)[reason]?.reserved)
  .map((row) => ({ ...row, meaning: `${row.meaning}.`, action: row.action === nothing ? '' : row.action }));

/** A condition of a BtpOperator. */
export const btpCondition = table.conditionOf('BtpOperator');

export function isReason(text: string | undefined): text is Reason {
  return table.isReason('BtpOperator', text);
}

/** Something the user or the cluster has to change first: ends a reconciliation with that status. */
export class Refusal extends Error {
  readonly reason: Reason;
  /** It may pass by itself: worth another try before it is shown to anybody. */
  readonly passing: boolean;

  constructor(reason: Reason, message: string, options: ErrorOptions & { passing?: boolean } = {}) {
    super(message, options);
    this.name = 'Refusal';
    this.reason = reason;
    this.passing = options.passing ?? (isTransient(options.cause) || isConflict(options.cause));
  }
}
