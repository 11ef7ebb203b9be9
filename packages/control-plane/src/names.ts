/** Names other programs and people rely on. */
export const names = {
  group: 'core.openmcp.cloud',
  version: 'v1alpha1',
  operationAnnotation: 'openmcp.cloud/operation',
  /** Beside the operation `ignore`, where the ManagedControlPlane disables the component. One that stands alone was set by somebody else, and is theirs to remove. */
  ignoredByAnnotation: 'openmcp.cloud/ignored-by',
  createdByAnnotation: 'openmcp.cloud/created-by',
  deletionConfirmationAnnotation: 'confirmation.openmcp.cloud/deletion',
  displayNameAnnotation: 'openmcp.cloud/display-name',
  /** On everything that belongs to a ManagedControlPlane. */
  mcpNameLabel: 'openmcp.cloud/mcp-name',
  mcpNamespaceLabel: 'openmcp.cloud/mcp-namespace',
  mcpProjectLabel: 'openmcp.cloud/mcp-project',
  mcpWorkspaceLabel: 'openmcp.cloud/mcp-workspace',
  /** On the namespace of a ManagedControlPlane. */
  projectLabel: 'core.openmcp.cloud/project',
  workspaceLabel: 'core.openmcp.cloud/workspace',
  /** The generations a component was made from. */
  mcpGenerationLabel: 'openmcp.cloud/mcp-generation',
  icGenerationLabel: 'openmcp.cloud/ic-generation',
  architectureLabel: 'architecture.openmcp.cloud/version',
  managedByLabel: 'openmcp.cloud/managed-by',
  purposeLabel: 'managed.openmcp.cloud/purpose',
  idpTypeLabel: 'openmcp.cloud/idp-type',
  /** On what the APIServer component makes on a target. */
  apiServerManagedLabel: 'apiserver.openmcp.cloud/managed',
  mcpFinalizer: 'finalizer.managedcontrolplane.openmcp.cloud',
  dependencyFinalizerPrefix: 'dependency.openmcp.cloud/',
  /** Where the operator's own objects live on a target. */
  systemNamespace: 'openmcp-system',
} as const;

/** The values of the operation annotation that mean something. */
export const operations = { reconcile: 'reconcile', ignore: 'ignore' } as const;
