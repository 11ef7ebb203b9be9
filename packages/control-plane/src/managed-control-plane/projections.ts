import type { ComponentType } from '../component/component-type.ts';
import type { Projection } from './projection.ts';
import { apiServerProjection } from './projections/api-server.ts';
import { authenticationProjection } from './projections/authentication.ts';
import { authorizationProjection } from './projections/authorization.ts';
import { cloudOrchestratorProjection } from './projections/cloud-orchestrator.ts';
import { landscaperProjection } from './projections/landscaper.ts';

/** How each component comes out of a ManagedControlPlane. */
export const projections: Readonly<Record<ComponentType, Projection>> = {
  APIServer: apiServerProjection,
  Authentication: authenticationProjection,
  Authorization: authorizationProjection,
  Landscaper: landscaperProjection,
  CloudOrchestrator: cloudOrchestratorProjection,
};
