import type { DeepReadonly } from '@slipway/kube';

import type { InternalConfiguration } from '../api/internal-configuration.ts';
import type { ManagedControlPlane } from '../api/managed-control-plane.ts';

export interface ProjectionInput {
  readonly mcp: DeepReadonly<ManagedControlPlane>;
  readonly internalConfiguration: DeepReadonly<InternalConfiguration> | undefined;
}

/** One wrong field of a component's configuration. */
export interface FieldError {
  /** Below the component's spec, such as `identityProviders[0].name`. */
  readonly field: string;
  readonly message: string;
}

/** How one component comes out of a ManagedControlPlane and goes back into its status. */
export interface Projection {
  /** Whether the ManagedControlPlane asks for it. */
  isConfigured(input: ProjectionInput): boolean;
  /** The spec of its resource, defaults filled in. */
  spec(input: ProjectionInput): Record<string, unknown>;
  /** What is wrong with it. Default: nothing can be. */
  validate?(spec: Record<string, unknown>): readonly FieldError[];
  /** Its field in `status.components`. */
  readonly statusField: 'apiServer' | 'authentication' | 'authorization' | 'landscaper' | 'cloudOrchestrator';
}
