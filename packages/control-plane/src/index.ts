export { APIServer, Authentication, Authorization, CloudOrchestrator, Landscaper } from './api/components.ts';
export { ClusterAdmin } from './api/cluster-admin.ts';
export { InternalConfiguration } from './api/internal-configuration.ts';
export { ManagedComponent } from './api/managed-component.ts';
export { ManagedControlPlane } from './api/managed-control-plane.ts';
export { names, operations } from './names.ts';
