export * from './cache.ts';
export * from './client.ts';
export { createClient, type ClientOptions } from './client/create-client.ts';
export type { CallInfo, CallOutcome, ClientInstrument, Verb } from './client/requester.ts';
export { collectionPath, objectPath, withQuery } from './client/resource-path.ts';
export * from './clock.ts';
export * from './conditions.ts';
export * from './connection.ts';
export * from './equality.ts';
export * from './finalizers.ts';
export * from './kind.ts';
export * from './kinds/core-kinds.ts';
export type * from './kinds/meta-types.ts';
export type * from './kinds/pod-types.ts';
export type {
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  JsonSchemaProps,
  ValidationRule,
} from './kinds/cluster-types.ts';
export type { LoadBalancerStatus, PersistentVolumeClaimSpec, ServicePort, ServiceSpec } from './kinds/core-types.ts';
export type { PolicyRule, RoleRef, Subject, Webhook, WebhookClientConfig } from './kinds/policy-types.ts';
export type { DeploymentSpec, DeploymentStatus, JobSpec } from './kinds/workload-types.ts';
export * from './kube-error.ts';
export * from './merge-patch.ts';
export * from './mutable.ts';
export * from './object.ts';
export * from './owner-references.ts';
export * from './random.ts';
export * from './selectors.ts';
export * from './transport.ts';
export { undiciTransport, type UndiciTransportOptions } from './transport/undici-transport.ts';
