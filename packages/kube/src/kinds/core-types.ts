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

export interface ConfigMap extends Typed<'v1', 'ConfigMap'> {
  data?: Record<string, string>;
  /** Base64 values. */
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

export interface Secret extends Typed<'v1', 'Secret'> {
  /** Base64 values. */
  data?: Record<string, string>;
  /** Plain values; write-only. */
  stringData?: Record<string, string>;
  type?: string;
  immutable?: boolean;
}

export interface Namespace extends Typed<'v1', 'Namespace'> {
  spec?: { finalizers?: string[] };
  status?: { phase?: 'Active' | 'Terminating'; conditions?: LooseCondition[] };
}

export interface ServiceAccount extends Typed<'v1', 'ServiceAccount'> {
  automountServiceAccountToken?: boolean;
  imagePullSecrets?: LocalObjectReference[];
  secrets?: ObjectReference[];
}

export interface Service extends Typed<'v1', 'Service'> {
  spec?: ServiceSpec;
  status?: { loadBalancer?: LoadBalancerStatus; conditions?: LooseCondition[] };
}

export interface ServiceSpec extends Open {
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
  ingress?: { ip?: string; hostname?: string; ipMode?: string; ports?: Open[] }[];
}

export interface Endpoints extends Typed<'v1', 'Endpoints'> {
  subsets?: Open[];
}

export interface Node extends Typed<'v1', 'Node'> {
  spec?: Open & {
    unschedulable?: boolean;
    podCIDR?: string;
    providerID?: string;
    taints?: { key: string; value?: string; effect: string; timeAdded?: string }[];
  };
  status?: Open & {
    conditions?: LooseCondition[];
    addresses?: { type: string; address: string }[];
    capacity?: Record<string, Quantity>;
    allocatable?: Record<string, Quantity>;
    nodeInfo?: Open & { kubeletVersion?: string; architecture?: string; operatingSystem?: string; osImage?: string };
  };
}

/** The old event kind; new code writes `events.k8s.io`. */
export interface CoreEvent extends Typed<'v1', 'Event'> {
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
}

export interface PersistentVolumeClaim extends Typed<'v1', 'PersistentVolumeClaim'> {
  spec?: PersistentVolumeClaimSpec;
  status?: Open & {
    phase?: 'Pending' | 'Bound' | 'Lost';
    capacity?: Record<string, Quantity>;
    accessModes?: string[];
    conditions?: LooseCondition[];
  };
}

export interface PersistentVolumeClaimSpec extends Open {
  accessModes?: string[];
  resources?: { requests?: Record<string, Quantity>; limits?: Record<string, Quantity> };
  storageClassName?: string;
  volumeName?: string;
  volumeMode?: 'Filesystem' | 'Block';
  selector?: LabelSelector;
  dataSource?: Open;
  dataSourceRef?: Open;
}

export interface PersistentVolume extends Typed<'v1', 'PersistentVolume'> {
  spec?: Open & {
    capacity?: Record<string, Quantity>;
    accessModes?: string[];
    claimRef?: ObjectReference;
    persistentVolumeReclaimPolicy?: 'Retain' | 'Delete' | 'Recycle';
    storageClassName?: string;
    volumeMode?: string;
  };
  status?: Open & { phase?: string; message?: string; reason?: string };
}

export interface ResourceQuota extends Typed<'v1', 'ResourceQuota'> {
  spec?: { hard?: Record<string, Quantity>; scopes?: string[]; scopeSelector?: Open };
  status?: { hard?: Record<string, Quantity>; used?: Record<string, Quantity> };
}

export interface LimitRange extends Typed<'v1', 'LimitRange'> {
  spec?: { limits: Open[] };
}
