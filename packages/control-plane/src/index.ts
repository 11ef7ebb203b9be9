export { APIServer, Authentication, Authorization, CloudOrchestrator, Landscaper } from './api/components.ts';
export { ClusterAdmin } from './api/cluster-admin.ts';
export { InternalConfiguration } from './api/internal-configuration.ts';
export { ManagedComponent } from './api/managed-component.ts';
export { ManagedControlPlane } from './api/managed-control-plane.ts';
export { names, operations } from './names.ts';
export {
  type ComponentContext,
  type ComponentDefinition,
  componentController,
  type ComponentOutcome,
  type Readiness,
} from './component/define-component.ts';
export { ComponentError, ContractViolation, withReason } from './component/component-error.ts';
export {
  componentKinds,
  type ComponentType,
  componentTypes,
  dependencyFinalizer,
  finalizer,
} from './component/component-type.ts';
export { ConditionUpdater } from './component/conditions.ts';
export { getCreatedFromGeneration } from './component/created-from-generation.ts';
export { getComponent } from './component/get-component.ts';
export { patchAnnotation } from './component/patch-annotation.ts';
export { defaultComponentControllerPredicates } from './component/predicates.ts';
export { isComponentReady, isDependencyReady } from './component/readiness.ts';
export { targetOf } from './api-server/target-of.ts';
export { type ConnectTarget, type Target, Targets } from './target/target.ts';
export { TargetWatch, type WatchedTarget } from './target/target-watch.ts';
export type { TargetKind } from './target/watched-cluster.ts';
export { OpenIDConnect } from './target/open-id-connect.ts';
export { controlPlaneOperator } from './operator.ts';
export { type ControlPlaneReason, type OwnReason, ownReason, type Reason } from './reasons.ts';
