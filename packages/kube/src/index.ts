export * from './cache.ts';
export * from './client.ts';
export { createClient, type ClientOptions } from './client/create-client.ts';
export type { CallInfo, CallOutcome, ClientInstrument, Verb } from './client/requester.ts';
export { collectionPath, objectPath, withQuery } from './resource-path.ts';
export { abortable } from './abortable.ts';
export * from './clock.ts';
export * from './command/command.ts';
export * from './command/command-error.ts';
export * from './command/output.ts';
export * from './command/selector.ts';
export { styled, type Style, type Terminal } from './command/terminal.ts';
export * from './conditions.ts';
export { ConfigError, NoConfigError } from './config/config-error.ts';
export { connect, findConnection, type Cluster, type ConnectOptions } from './connect.ts';
export { inClusterConnection, isInCluster, type InClusterOptions } from './config/in-cluster.ts';
export { loadKubeConfig, type KubeConfig, type KubeConfigOptions } from './config/kube-config.ts';
export * from './connection.ts';
export { proxyFromEnvironment } from './config/proxy-environment.ts';
export * from './duration.ts';
export * from './equality.ts';
export * from './finalizers.ts';
export * from './input-error.ts';
export * from './json.ts';
export * from './json-patch.ts';
export * from './kind.ts';
export type { BuiltinObject } from './kinds/builtin-objects.ts';
export * from './kinds/core-kinds.ts';
export { checkCrds, crdFileName, crdYaml, writeCrds } from './kinds/crd-files.ts';
export { schemaOf, toCustomResourceDefinition } from './kinds/custom-resource-definition.ts';
export { applyDefaults } from './kinds/defaults.ts';
export {
  defineKind,
  isDefined,
  pluralOf,
  type DefinedKind,
  type KindDefinition,
  type NewFrom,
  type ObjectFrom,
  type PrinterColumn,
  type VersionSchema,
} from './kinds/define-kind.ts';
export type {
  Condition,
  KubeList,
  LabelSelector,
  LabelSelectorRequirement,
  LocalObjectReference,
  LooseCondition,
  ObjectReference,
  Open,
  Quantity,
  Typed,
} from './kinds/meta-types.ts';
export { newObject, type NewObjectFields } from './kinds/new-object.ts';
export * from './kinds/schemas.ts';
export { toStructuralSchema } from './kinds/structural-schema.ts';
export { problemText, validateObject, validateValue, type FieldProblem } from './kinds/validate-object.ts';
export type {
  Affinity,
  Container,
  ContainerPort,
  ContainerState,
  ContainerStatus,
  EnvFromSource,
  EnvVar,
  PodAffinity,
  PodAffinityTerm,
  PodSecurityContext,
  PodSpec,
  PodStatus,
  PodTemplateSpec,
  Probe,
  ResourceRequirements,
  SecurityContext,
  Toleration,
  TopologySpreadConstraint,
  Volume,
  VolumeMount,
} from './kinds/pod-types.ts';
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
export { firstOfMany } from './first-of-many.ts';
export { timeLimit, type TimeLimit } from './time-limit.ts';
export * from './kube-error.ts';
export * from './merge-patch.ts';
export * from './mutable.ts';
export * from './object.ts';
export * from './owner-references.ts';
export {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityToNumber,
  subtractQuantities,
  type Quantity as ParsedQuantity,
} from './quantity.ts';
export * from './random.ts';
export * from './selectors.ts';
export * from './transport.ts';
export {
  instrumentTransport,
  type ExchangeObserver,
  type TransportInstrument,
} from './transport/instrument-transport.ts';
export { undiciTransport, type UndiciTransportOptions } from './transport/undici-transport.ts';
export { Type, type Defaulted } from './kinds/type.ts';
export type { Static, TSchema } from 'typebox';
export { CacheError, type CacheErrorCode } from './cache/cache-error.ts';
export type { CacheLog, CacheMetrics } from './cache/cache-observers.ts';
export { createCache, type CacheOptions } from './cache/create-cache.ts';
export type { RestartReason } from './reflector/failure.ts';
export type { ReflectorTimings } from './reflector/options.ts';
export { TimeSlice, yieldToLoop, type YieldToLoop } from './reflector/time-slice.ts';
