import type {
  IntOrString,
  LabelSelector,
  LocalObjectReference,
  LooseCondition,
  ObjectReference,
  Open,
  Quantity,
  Typed,
} from './meta-types.ts';
import type { VolumeSources } from './volume-sources.ts';

export type ConfigMap = Typed<'v1', 'ConfigMap'> & {
  data?: Record<string, string>;
  /** Base64 values. */
  binaryData?: Record<string, string>;
  immutable?: boolean;
};

export type Secret = Typed<'v1', 'Secret'> & {
  /** Base64 values. */
  data?: Record<string, string>;
  /** Plain values; write-only. */
  stringData?: Record<string, string>;
  type?: string;
  immutable?: boolean;
};

export type Namespace = Typed<'v1', 'Namespace'> & {
  spec?: { finalizers?: string[] };
  status?: { phase?: 'Active' | 'Terminating'; conditions?: LooseCondition[] };
};

export type ServiceAccount = Typed<'v1', 'ServiceAccount'> & {
  automountServiceAccountToken?: boolean;
  imagePullSecrets?: LocalObjectReference[];
  secrets?: ObjectReference[];
};

export type Service = Typed<'v1', 'Service'> & {
  spec?: ServiceSpec;
  status?: { loadBalancer?: LoadBalancerStatus; conditions?: LooseCondition[] };
};

export interface ServiceSpec {
  type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName';
  selector?: Record<string, string>;
  ports?: ServicePort[];
  clusterIP?: string;
  clusterIPs?: string[];
  externalIPs?: string[];
  externalName?: string;
  externalTrafficPolicy?: 'Cluster' | 'Local';
  internalTrafficPolicy?: 'Cluster' | 'Local';
  ipFamilies?: string[];
  ipFamilyPolicy?: string;
  loadBalancerClass?: string;
  loadBalancerSourceRanges?: string[];
  publishNotReadyAddresses?: boolean;
  sessionAffinity?: 'None' | 'ClientIP';
  sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } };
  allocateLoadBalancerNodePorts?: boolean;
  healthCheckNodePort?: number;
  loadBalancerIP?: string;
  trafficDistribution?: string;
}

export interface ServicePort {
  port: number;
  name?: string;
  protocol?: 'TCP' | 'UDP' | 'SCTP';
  targetPort?: IntOrString;
  nodePort?: number;
  appProtocol?: string;
}

export interface LoadBalancerStatus {
  ingress?: LoadBalancerAddress[];
}

export interface LoadBalancerAddress {
  ip?: string;
  hostname?: string;
  ipMode?: string;
  ports?: Open[];
}

export type Endpoints = Typed<'v1', 'Endpoints'> & {
  subsets?: Open[];
};

export type Node = Typed<'v1', 'Node'> & {
  spec?: {
    unschedulable?: boolean;
    podCIDR?: string;
    podCIDRs?: string[];
    externalID?: string;
    configSource?: Open;
    providerID?: string;
    taints?: { key: string; value?: string; effect: string; timeAdded?: string }[];
  };
  status?: {
    conditions?: LooseCondition[];
    addresses?: { type: string; address: string }[];
    capacity?: Record<string, Quantity>;
    allocatable?: Record<string, Quantity>;
    nodeInfo?: {
      kubeletVersion?: string;
      architecture?: string;
      operatingSystem?: string;
      osImage?: string;
      bootID?: string;
      containerRuntimeVersion?: string;
      kernelVersion?: string;
      kubeProxyVersion?: string;
      machineID?: string;
      systemUUID?: string;
      swap?: Open;
    };
    phase?: string;
    images?: { names?: string[]; sizeBytes?: number }[];
    daemonEndpoints?: Open;
    volumesAttached?: Open[];
    volumesInUse?: string[];
    config?: Open;
    features?: Open;
    declaredFeatures?: string[];
    runtimeHandlers?: Open[];
  };
};

/** The old event kind; new code writes `events.k8s.io`. */
export type CoreEvent = Typed<'v1', 'Event'> & {
  involvedObject: ObjectReference;
  reason?: string;
  message?: string;
  type?: 'Normal' | 'Warning';
  action?: string;
  count?: number;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  source?: { component?: string; host?: string };
  reportingComponent?: string;
  reportingInstance?: string;
  related?: ObjectReference;
  series?: { count?: number; lastObservedTime?: string };
};

export type PersistentVolumeClaim = Typed<'v1', 'PersistentVolumeClaim'> & {
  spec?: PersistentVolumeClaimSpec;
  status?: {
    phase?: 'Pending' | 'Bound' | 'Lost';
    capacity?: Record<string, Quantity>;
    accessModes?: string[];
    conditions?: LooseCondition[];
    allocatedResources?: Record<string, Quantity>;
    allocatedResourceStatuses?: Record<string, string>;
    currentVolumeAttributesClassName?: string;
    modifyVolumeStatus?: Open;
  };
};

export interface PersistentVolumeClaimSpec {
  accessModes?: string[];
  resources?: { requests?: Record<string, Quantity>; limits?: Record<string, Quantity> };
  storageClassName?: string;
  volumeName?: string;
  volumeMode?: 'Filesystem' | 'Block';
  selector?: LabelSelector;
  dataSource?: Open;
  dataSourceRef?: Open;
  volumeAttributesClassName?: string;
}

export type PersistentVolume = Typed<'v1', 'PersistentVolume'> & {
  spec?: VolumeSources & {
    capacity?: Record<string, Quantity>;
    accessModes?: string[];
    claimRef?: ObjectReference;
    persistentVolumeReclaimPolicy?: 'Retain' | 'Delete' | 'Recycle';
    storageClassName?: string;
    volumeMode?: string;
    volumeAttributesClassName?: string;
    mountOptions?: string[];
    nodeAffinity?: Open;
    hostPath?: { path: string; type?: string };
    local?: { path: string; fsType?: string };
    csi?: Open;
  };
  status?: { phase?: string; message?: string; reason?: string; lastPhaseTransitionTime?: string };
};

export type ResourceQuota = Typed<'v1', 'ResourceQuota'> & {
  spec?: { hard?: Record<string, Quantity>; scopes?: string[]; scopeSelector?: Open };
  status?: { hard?: Record<string, Quantity>; used?: Record<string, Quantity> };
};

export type LimitRange = Typed<'v1', 'LimitRange'> & {
  spec?: { limits: Open[] };
};
