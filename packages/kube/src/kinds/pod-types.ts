import type { ObjectMeta } from '../object.ts';
import type {
  IntOrString,
  LabelSelector,
  LocalObjectReference,
  LooseCondition,
  Open,
  Quantity,
  Typed,
} from './meta-types.ts';
import type { VolumeSources } from './volume-sources.ts';

export type Pod = Typed<'v1', 'Pod'> & {
  spec?: PodSpec;
  status?: PodStatus;
};

export interface PodTemplateSpec {
  metadata?: ObjectMeta;
  spec?: PodSpec;
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  volumes?: Volume[];
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  affinity?: Affinity;
  tolerations?: Toleration[];
  topologySpreadConstraints?: TopologySpreadConstraint[];
  priorityClassName?: string;
  priority?: number;
  runtimeClassName?: string;
  restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
  dnsPolicy?: string;
  dnsConfig?: Open;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  hostUsers?: boolean;
  hostname?: string;
  subdomain?: string;
  hostAliases?: { ip: string; hostnames?: string[] }[];
  imagePullSecrets?: LocalObjectReference[];
  securityContext?: PodSecurityContext;
  schedulerName?: string;
  shareProcessNamespace?: boolean;
  enableServiceLinks?: boolean;
  readinessGates?: { conditionType: string }[];
  preemptionPolicy?: string;
  overhead?: Record<string, Quantity>;
  ephemeralContainers?: Open[];
  hostnameOverride?: string;
  os?: { name: string };
  resourceClaims?: { name: string; resourceClaimName?: string; resourceClaimTemplateName?: string }[];
  resources?: ResourceRequirements;
  schedulingGates?: { name: string }[];
  schedulingGroup?: Open;
  /** The old name of `serviceAccountName`. */
  serviceAccount?: string;
  setHostnameAsFQDN?: boolean;
}

export interface Container {
  name: string;
  image?: string;
  imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  command?: string[];
  args?: string[];
  workingDir?: string;
  ports?: ContainerPort[];
  env?: EnvVar[];
  envFrom?: EnvFromSource[];
  resources?: ResourceRequirements;
  volumeMounts?: VolumeMount[];
  volumeDevices?: { name: string; devicePath: string }[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  lifecycle?: { postStart?: LifecycleHandler; preStop?: LifecycleHandler; stopSignal?: string };
  securityContext?: SecurityContext;
  /** `Always` makes an init container a sidecar. */
  restartPolicy?: string;
  restartPolicyRules?: Open[];
  resizePolicy?: { resourceName: string; restartPolicy: string }[];
  terminationMessagePath?: string;
  terminationMessagePolicy?: string;
  stdin?: boolean;
  stdinOnce?: boolean;
  tty?: boolean;
}

export interface ContainerPort {
  containerPort: number;
  name?: string;
  protocol?: 'TCP' | 'UDP' | 'SCTP';
  hostPort?: number;
  hostIP?: string;
}

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: {
    configMapKeyRef?: KeySelector;
    secretKeyRef?: KeySelector;
    fieldRef?: { fieldPath: string; apiVersion?: string };
    resourceFieldRef?: { resource: string; containerName?: string; divisor?: Quantity };
    fileKeyRef?: { volumeName: string; path: string; key: string; optional?: boolean };
  };
}

export interface KeySelector {
  name?: string;
  key: string;
  optional?: boolean;
}

export interface EnvFromSource {
  prefix?: string;
  configMapRef?: { name?: string; optional?: boolean };
  secretRef?: { name?: string; optional?: boolean };
}

export interface ResourceRequirements {
  requests?: Record<string, Quantity>;
  limits?: Record<string, Quantity>;
  claims?: { name: string; request?: string }[];
}

export interface VolumeMount {
  name: string;
  mountPath: string;
  readOnly?: boolean;
  subPath?: string;
  subPathExpr?: string;
  mountPropagation?: string;
  recursiveReadOnly?: string;
}

/** What a container is asked by its node, in its life and by its probes. */
export interface ContainerAction {
  httpGet?: {
    port: IntOrString;
    path?: string;
    host?: string;
    scheme?: 'HTTP' | 'HTTPS';
    httpHeaders?: { name: string; value: string }[];
  };
  tcpSocket?: { port: IntOrString; host?: string };
  exec?: { command?: string[] };
}

export interface LifecycleHandler extends ContainerAction {
  sleep?: { seconds: number };
}

export interface Probe extends ContainerAction {
  grpc?: { port: number; service?: string };
  initialDelaySeconds?: number;
  periodSeconds?: number;
  timeoutSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
  terminationGracePeriodSeconds?: number;
}

export interface SecurityContext {
  allowPrivilegeEscalation?: boolean;
  privileged?: boolean;
  readOnlyRootFilesystem?: boolean;
  runAsNonRoot?: boolean;
  runAsUser?: number;
  runAsGroup?: number;
  capabilities?: { add?: string[]; drop?: string[] };
  seccompProfile?: SecurityProfile;
  appArmorProfile?: SecurityProfile;
  procMount?: string;
  seLinuxOptions?: SeLinuxOptions;
  windowsOptions?: Open;
}

export interface PodSecurityContext {
  fsGroup?: number;
  fsGroupChangePolicy?: string;
  runAsNonRoot?: boolean;
  runAsUser?: number;
  runAsGroup?: number;
  supplementalGroups?: number[];
  supplementalGroupsPolicy?: string;
  seccompProfile?: SecurityProfile;
  appArmorProfile?: SecurityProfile;
  seLinuxChangePolicy?: string;
  seLinuxOptions?: SeLinuxOptions;
  windowsOptions?: Open;
  sysctls?: { name: string; value: string }[];
}

export interface SecurityProfile {
  type: string;
  localhostProfile?: string;
}

export interface SeLinuxOptions {
  level?: string;
  role?: string;
  type?: string;
  user?: string;
}

export interface Volume extends VolumeSources {
  gitRepo?: Open;
  name: string;
  configMap?: { name?: string; items?: KeyToPath[]; defaultMode?: number; optional?: boolean };
  secret?: { secretName?: string; items?: KeyToPath[]; defaultMode?: number; optional?: boolean };
  emptyDir?: { medium?: string; sizeLimit?: Quantity };
  persistentVolumeClaim?: { claimName: string; readOnly?: boolean };
  hostPath?: { path: string; type?: string };
  projected?: { sources?: Open[]; defaultMode?: number };
  downwardAPI?: Open;
  csi?: {
    driver: string;
    fsType?: string;
    readOnly?: boolean;
    volumeAttributes?: Record<string, string>;
    nodePublishSecretRef?: LocalObjectReference;
  };
  image?: { reference?: string; pullPolicy?: string };
  ephemeral?: Open;
}

export interface KeyToPath {
  key: string;
  path: string;
  mode?: number;
}

export interface Affinity {
  nodeAffinity?: Open;
  podAffinity?: PodAffinity;
  podAntiAffinity?: PodAffinity;
}

export interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; podAffinityTerm: PodAffinityTerm }[];
}

export interface PodAffinityTerm {
  topologyKey: string;
  labelSelector?: LabelSelector;
  namespaces?: string[];
  namespaceSelector?: LabelSelector;
  matchLabelKeys?: string[];
  mismatchLabelKeys?: string[];
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface TopologySpreadConstraint {
  maxSkew: number;
  topologyKey: string;
  whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  labelSelector?: LabelSelector;
  minDomains?: number;
  nodeAffinityPolicy?: string;
  nodeTaintsPolicy?: string;
  matchLabelKeys?: string[];
}

export interface PodStatus {
  phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  conditions?: LooseCondition[];
  reason?: string;
  message?: string;
  podIP?: string;
  podIPs?: { ip: string }[];
  hostIP?: string;
  startTime?: string;
  qosClass?: string;
  nominatedNodeName?: string;
  observedGeneration?: number;
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
  ephemeralContainerStatuses?: ContainerStatus[];
  hostIPs?: { ip: string }[];
  resize?: string;
  resources?: ResourceRequirements;
  allocatedResources?: Record<string, Quantity>;
  resourceClaimStatuses?: Open[];
  extendedResourceClaimStatus?: Open;
  nodeAllocatableResourceClaimStatuses?: Open[];
}

export interface ContainerStatus {
  name: string;
  ready: boolean;
  restartCount: number;
  image: string;
  imageID: string;
  started?: boolean;
  containerID?: string;
  state?: ContainerState;
  lastState?: ContainerState;
  resources?: ResourceRequirements;
  allocatedResources?: Record<string, Quantity>;
  allocatedResourcesStatus?: Open[];
  stopSignal?: string;
  user?: Open;
  volumeMounts?: Open[];
}

export interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string };
  terminated?: {
    exitCode: number;
    signal?: number;
    reason?: string;
    message?: string;
    startedAt?: string;
    finishedAt?: string;
    containerID?: string;
  };
}
