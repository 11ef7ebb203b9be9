import type * as cluster from './cluster-types.ts';
import type * as core from './core-types.ts';
import { kindOf, type Kind } from '../kind.ts';
import type * as pod from './pod-types.ts';
import type * as policy from './policy-types.ts';
import type * as workload from './workload-types.ts';

export type ConfigMap = core.ConfigMap;
export const ConfigMap: Kind<ConfigMap> = kindOf('', 'v1', 'ConfigMap', 'configmaps', 'Namespaced');

export type Secret = core.Secret;
export const Secret: Kind<Secret> = kindOf('', 'v1', 'Secret', 'secrets', 'Namespaced');

export type Namespace = core.Namespace;
export const Namespace: Kind<Namespace> = kindOf('', 'v1', 'Namespace', 'namespaces', 'Cluster');

export type Service = core.Service;
export const Service: Kind<Service> = kindOf('', 'v1', 'Service', 'services', 'Namespaced');

export type ServiceAccount = core.ServiceAccount;
export const ServiceAccount: Kind<ServiceAccount> = kindOf('', 'v1', 'ServiceAccount', 'serviceaccounts', 'Namespaced');

export type Endpoints = core.Endpoints;
export const Endpoints: Kind<Endpoints> = kindOf('', 'v1', 'Endpoints', 'endpoints', 'Namespaced');

export type Node = core.Node;
export const Node: Kind<Node> = kindOf('', 'v1', 'Node', 'nodes', 'Cluster');

export type PersistentVolumeClaim = core.PersistentVolumeClaim;
export const PersistentVolumeClaim: Kind<PersistentVolumeClaim> = kindOf(
  '',
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
  'Namespaced',
);

export type PersistentVolume = core.PersistentVolume;
export const PersistentVolume: Kind<PersistentVolume> = kindOf(
  '',
  'v1',
  'PersistentVolume',
  'persistentvolumes',
  'Cluster',
);

export type ResourceQuota = core.ResourceQuota;
export const ResourceQuota: Kind<ResourceQuota> = kindOf('', 'v1', 'ResourceQuota', 'resourcequotas', 'Namespaced');

export type LimitRange = core.LimitRange;
export const LimitRange: Kind<LimitRange> = kindOf('', 'v1', 'LimitRange', 'limitranges', 'Namespaced');

export type CoreEvent = core.CoreEvent;
export const CoreEvent: Kind<CoreEvent> = kindOf('', 'v1', 'Event', 'events', 'Namespaced');

export type Pod = pod.Pod;
export const Pod: Kind<Pod> = kindOf('', 'v1', 'Pod', 'pods', 'Namespaced');

export type Deployment = workload.Deployment;
export const Deployment: Kind<Deployment> = kindOf('apps', 'v1', 'Deployment', 'deployments', 'Namespaced');

export type StatefulSet = workload.StatefulSet;
export const StatefulSet: Kind<StatefulSet> = kindOf('apps', 'v1', 'StatefulSet', 'statefulsets', 'Namespaced');

export type DaemonSet = workload.DaemonSet;
export const DaemonSet: Kind<DaemonSet> = kindOf('apps', 'v1', 'DaemonSet', 'daemonsets', 'Namespaced');

export type ReplicaSet = workload.ReplicaSet;
export const ReplicaSet: Kind<ReplicaSet> = kindOf('apps', 'v1', 'ReplicaSet', 'replicasets', 'Namespaced');

export type ControllerRevision = workload.ControllerRevision;
export const ControllerRevision: Kind<ControllerRevision> = kindOf(
  'apps',
  'v1',
  'ControllerRevision',
  'controllerrevisions',
  'Namespaced',
);

export type Job = workload.Job;
export const Job: Kind<Job> = kindOf('batch', 'v1', 'Job', 'jobs', 'Namespaced');

export type CronJob = workload.CronJob;
export const CronJob: Kind<CronJob> = kindOf('batch', 'v1', 'CronJob', 'cronjobs', 'Namespaced');

export type HorizontalPodAutoscaler = workload.HorizontalPodAutoscaler;
export const HorizontalPodAutoscaler: Kind<HorizontalPodAutoscaler> = kindOf(
  'autoscaling',
  'v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
  'Namespaced',
);

export type PodDisruptionBudget = workload.PodDisruptionBudget;
export const PodDisruptionBudget: Kind<PodDisruptionBudget> = kindOf(
  'policy',
  'v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
  'Namespaced',
);

export type Role = policy.Role;
export const Role: Kind<Role> = kindOf('rbac.authorization.k8s.io', 'v1', 'Role', 'roles', 'Namespaced');

export type ClusterRole = policy.ClusterRole;
export const ClusterRole: Kind<ClusterRole> = kindOf(
  'rbac.authorization.k8s.io',
  'v1',
  'ClusterRole',
  'clusterroles',
  'Cluster',
);

export type RoleBinding = policy.RoleBinding;
export const RoleBinding: Kind<RoleBinding> = kindOf(
  'rbac.authorization.k8s.io',
  'v1',
  'RoleBinding',
  'rolebindings',
  'Namespaced',
);

export type ClusterRoleBinding = policy.ClusterRoleBinding;
export const ClusterRoleBinding: Kind<ClusterRoleBinding> = kindOf(
  'rbac.authorization.k8s.io',
  'v1',
  'ClusterRoleBinding',
  'clusterrolebindings',
  'Cluster',
);

export type NetworkPolicy = policy.NetworkPolicy;
export const NetworkPolicy: Kind<NetworkPolicy> = kindOf(
  'networking.k8s.io',
  'v1',
  'NetworkPolicy',
  'networkpolicies',
  'Namespaced',
);

export type Ingress = policy.Ingress;
export const Ingress: Kind<Ingress> = kindOf('networking.k8s.io', 'v1', 'Ingress', 'ingresses', 'Namespaced');

export type IngressClass = policy.IngressClass;
export const IngressClass: Kind<IngressClass> = kindOf(
  'networking.k8s.io',
  'v1',
  'IngressClass',
  'ingressclasses',
  'Cluster',
);

export type ValidatingWebhookConfiguration = policy.ValidatingWebhookConfiguration;
export const ValidatingWebhookConfiguration: Kind<ValidatingWebhookConfiguration> = kindOf(
  'admissionregistration.k8s.io',
  'v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
  'Cluster',
);

export type MutatingWebhookConfiguration = policy.MutatingWebhookConfiguration;
export const MutatingWebhookConfiguration: Kind<MutatingWebhookConfiguration> = kindOf(
  'admissionregistration.k8s.io',
  'v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
  'Cluster',
);

export type ValidatingAdmissionPolicy = policy.ValidatingAdmissionPolicy;
export const ValidatingAdmissionPolicy: Kind<ValidatingAdmissionPolicy> = kindOf(
  'admissionregistration.k8s.io',
  'v1',
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
  'Cluster',
);

export type ValidatingAdmissionPolicyBinding = policy.ValidatingAdmissionPolicyBinding;
export const ValidatingAdmissionPolicyBinding: Kind<ValidatingAdmissionPolicyBinding> = kindOf(
  'admissionregistration.k8s.io',
  'v1',
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
  'Cluster',
);

export type Lease = cluster.Lease;
export const Lease: Kind<Lease> = kindOf('coordination.k8s.io', 'v1', 'Lease', 'leases', 'Namespaced');

export type Event = cluster.Event;
export const Event: Kind<Event> = kindOf('events.k8s.io', 'v1', 'Event', 'events', 'Namespaced');

export type EndpointSlice = cluster.EndpointSlice;
export const EndpointSlice: Kind<EndpointSlice> = kindOf(
  'discovery.k8s.io',
  'v1',
  'EndpointSlice',
  'endpointslices',
  'Namespaced',
);

export type PriorityClass = cluster.PriorityClass;
export const PriorityClass: Kind<PriorityClass> = kindOf(
  'scheduling.k8s.io',
  'v1',
  'PriorityClass',
  'priorityclasses',
  'Cluster',
);

export type StorageClass = cluster.StorageClass;
export const StorageClass: Kind<StorageClass> = kindOf(
  'storage.k8s.io',
  'v1',
  'StorageClass',
  'storageclasses',
  'Cluster',
);

export type RuntimeClass = cluster.RuntimeClass;
export const RuntimeClass: Kind<RuntimeClass> = kindOf(
  'node.k8s.io',
  'v1',
  'RuntimeClass',
  'runtimeclasses',
  'Cluster',
);

export type CertificateSigningRequest = cluster.CertificateSigningRequest;
export const CertificateSigningRequest: Kind<CertificateSigningRequest> = kindOf(
  'certificates.k8s.io',
  'v1',
  'CertificateSigningRequest',
  'certificatesigningrequests',
  'Cluster',
);

export type APIService = cluster.APIService;
export const APIService: Kind<APIService> = kindOf(
  'apiregistration.k8s.io',
  'v1',
  'APIService',
  'apiservices',
  'Cluster',
);

export type CustomResourceDefinition = cluster.CustomResourceDefinition;
export const CustomResourceDefinition: Kind<CustomResourceDefinition> = kindOf(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  'Cluster',
);

/** The built-in kinds above. Their names never change, so a client need not ask discovery for them. */
export const coreKinds: readonly Kind[] = [
  ConfigMap,
  Secret,
  Namespace,
  Service,
  ServiceAccount,
  Endpoints,
  Node,
  PersistentVolumeClaim,
  PersistentVolume,
  ResourceQuota,
  LimitRange,
  CoreEvent,
  Pod,
  Deployment,
  StatefulSet,
  DaemonSet,
  ReplicaSet,
  ControllerRevision,
  Job,
  CronJob,
  HorizontalPodAutoscaler,
  PodDisruptionBudget,
  Role,
  ClusterRole,
  RoleBinding,
  ClusterRoleBinding,
  NetworkPolicy,
  Ingress,
  IngressClass,
  ValidatingWebhookConfiguration,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  Lease,
  Event,
  EndpointSlice,
  PriorityClass,
  StorageClass,
  RuntimeClass,
  CertificateSigningRequest,
  APIService,
  CustomResourceDefinition,
];
