import { crdStrategy } from '../crd/crd-strategy.ts';
import type { Resource, Strategy, TableColumn } from '../resource.ts';
import { builtinSchema } from '../schema/builtin.ts';
import { autoscalerStrategy } from './autoscalers.ts';
import {
  claimStrategy,
  endpointsStrategy,
  limitRangeStrategy,
  namespaceStrategy,
  nodeStrategy,
  resourceQuotaStrategy,
  serviceAccountStrategy,
  volumeStrategy,
} from './cluster-kinds.ts';
import { configMapStrategy, secretStrategy } from './core-data.ts';
import { defaultStrategy, strategyWith } from './default-strategy.ts';
import { coreEventStrategy, groupedEventStrategy } from './events.ts';
import { flowSchemaStrategy, priorityLevelStrategy } from './flow-kinds.ts';
import { cronJobStrategy, jobStrategy } from './jobs.ts';
import {
  disruptionBudgetStrategy,
  endpointSliceStrategy,
  ingressClassStrategy,
  ingressStrategy,
  leaseStrategy,
  networkPolicyStrategy,
} from './network-kinds.ts';
import { podStrategy } from './pods.ts';
import {
  addressStrategy,
  componentStatusStrategy,
  deviceTaintStrategy,
  podCertificateStrategy,
  resourceClaimStrategy,
  resourceSliceStrategy,
  serviceCidrStrategy,
  storageMigrationStrategy,
  trustBundleStrategy,
} from './rare-kinds.ts';
import { clusterRoleBindingStrategy, clusterRoleStrategy, roleBindingStrategy, roleStrategy } from './rbac.ts';
import {
  apiServiceStrategy,
  mutatingWebhookStrategy,
  policyBindingStrategy,
  policyStrategy,
  validatingWebhookStrategy,
} from './registration-kinds.ts';
import { serviceStrategy } from './services.ts';
import { signingRequestStrategy } from './signing-requests.ts';
import {
  csiDriverStrategy,
  csiNodeStrategy,
  csiStorageCapacityStrategy,
  plainStorageStrategy,
  priorityClassStrategy,
  runtimeClassStrategy,
  storageClassStrategy,
  volumeAttachmentStrategy,
  volumeAttributesClassStrategy,
} from './storage-kinds.ts';
import { withStatus } from './with-status.ts';
import {
  controllerRevisionStrategy,
  daemonSetStrategy,
  deploymentStrategy,
  podTemplateStrategy,
  replicaSetStrategy,
  replicationControllerStrategy,
  statefulSetStrategy,
} from './workloads.ts';

const special: Readonly<Record<string, Readonly<Record<string, Strategy>>>> = {
  '': {
    ComponentStatus: componentStatusStrategy,
    ConfigMap: configMapStrategy,
    Endpoints: endpointsStrategy,
    Event: coreEventStrategy,
    LimitRange: limitRangeStrategy,
    Namespace: namespaceStrategy,
    Node: nodeStrategy,
    PersistentVolume: volumeStrategy,
    PersistentVolumeClaim: claimStrategy,
    Pod: podStrategy,
    PodTemplate: podTemplateStrategy,
    ReplicationController: replicationControllerStrategy,
    ResourceQuota: resourceQuotaStrategy,
    Secret: secretStrategy,
    Service: serviceStrategy,
    ServiceAccount: serviceAccountStrategy,
  },
  apps: {
    ControllerRevision: controllerRevisionStrategy,
    DaemonSet: daemonSetStrategy,
    Deployment: deploymentStrategy,
    ReplicaSet: replicaSetStrategy,
    StatefulSet: statefulSetStrategy,
  },
  batch: { CronJob: cronJobStrategy, Job: jobStrategy },
  autoscaling: { HorizontalPodAutoscaler: autoscalerStrategy },
  'networking.k8s.io': {
    IPAddress: addressStrategy,
    ServiceCIDR: serviceCidrStrategy,
    Ingress: ingressStrategy,
    IngressClass: ingressClassStrategy,
    NetworkPolicy: networkPolicyStrategy,
  },
  policy: { PodDisruptionBudget: disruptionBudgetStrategy },
  'rbac.authorization.k8s.io': {
    ClusterRole: clusterRoleStrategy,
    ClusterRoleBinding: clusterRoleBindingStrategy,
    Role: roleStrategy,
    RoleBinding: roleBindingStrategy,
  },
  'coordination.k8s.io': { Lease: leaseStrategy },
  'discovery.k8s.io': { EndpointSlice: endpointSliceStrategy },
  'events.k8s.io': { Event: groupedEventStrategy },
  'storage.k8s.io': {
    CSIDriver: csiDriverStrategy,
    CSINode: csiNodeStrategy,
    CSIStorageCapacity: csiStorageCapacityStrategy,
    StorageClass: storageClassStrategy,
    VolumeAttachment: volumeAttachmentStrategy,
    VolumeAttributesClass: volumeAttributesClassStrategy,
  },
  'scheduling.k8s.io': { PriorityClass: priorityClassStrategy },
  'node.k8s.io': { RuntimeClass: runtimeClassStrategy },
  'admissionregistration.k8s.io': {
    MutatingAdmissionPolicy: policyStrategy,
    MutatingAdmissionPolicyBinding: policyBindingStrategy,
    MutatingWebhookConfiguration: mutatingWebhookStrategy,
    ValidatingAdmissionPolicy: policyStrategy,
    ValidatingAdmissionPolicyBinding: policyBindingStrategy,
    ValidatingWebhookConfiguration: validatingWebhookStrategy,
  },
  'certificates.k8s.io': {
    CertificateSigningRequest: signingRequestStrategy,
    ClusterTrustBundle: trustBundleStrategy,
    PodCertificateRequest: podCertificateStrategy,
  },
  'resource.k8s.io': {
    DeviceTaintRule: deviceTaintStrategy,
    ResourceClaim: resourceClaimStrategy,
    ResourceSlice: resourceSliceStrategy,
  },
  'storagemigration.k8s.io': { StorageVersionMigration: storageMigrationStrategy },
  'apiextensions.k8s.io': { CustomResourceDefinition: crdStrategy },
  'apiregistration.k8s.io': { APIService: apiServiceStrategy },
  'flowcontrol.apiserver.k8s.io': {
    FlowSchema: flowSchemaStrategy,
    PriorityLevelConfiguration: priorityLevelStrategy,
  },
};

/** Groups whose kinds all behave alike where they are not named above. */
const byGroup: Readonly<Record<string, Strategy>> = {
  'storage.k8s.io': plainStorageStrategy,
  'resource.k8s.io': strategyWith({ deleteReturnsObject: true }),
};

const made = new Map<string, Strategy>();

/** How a built-in kind behaves. */
export function strategyOf(group: string, version: string, kind: string): Strategy {
  const key = `${group}/${version}/${kind}`;
  const known = made.get(key);
  if (known) return known;
  const strategy = baseStrategy(group, version, kind);
  made.set(key, strategy);
  return strategy;
}

function baseStrategy(group: string, version: string, kind: string): Strategy {
  const found = special[group]?.[kind] ?? byGroup[group];
  if (found) return found;
  const schema = builtinSchema(group, version, kind);
  return schema?.properties?.['status'] ? withStatus({}) : defaultStrategy;
}

const fallbackColumns: readonly TableColumn[] = [
  { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
  { name: 'Age', type: 'string', format: '', description: '', priority: 0 },
];

/** The table columns of a resource: its own, or name and age. */
export function columnsOf(resource: Partial<Pick<Resource, 'columns'>>): readonly TableColumn[] {
  return resource.columns && resource.columns.length > 0 ? resource.columns : fallbackColumns;
}
