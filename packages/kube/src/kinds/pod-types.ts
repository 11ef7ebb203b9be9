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

export interface Pod extends Typed<'v1', 'Pod'> {
  spec?: PodSpec;
  status?: PodStatus;
}

export interface PodTemplateSpec {
  metadata?: ObjectMeta;
  spec?: PodSpec;
}

export interface PodSpec extends Open {
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
}

export interface Container extends Open {
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
  lifecycle?: { postStart?: ProbeAction; preStop?: ProbeAction };
  securityContext?: SecurityContext;
  /** `Always` makes an init container a sidecar. */
  restartPolicy?: string;
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
    [source: string]: unknown;
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

export interface ProbeAction extends Open {
  httpGet?: {
    port: IntOrString;
    path?: string;
    host?: string;
    scheme?: 'HTTP' | 'HTTPS';
    httpHeaders?: { name: string; value: string }[];
  };
  tcpSocket?: { port: IntOrString; host?: string };
  exec?: { command?: string[] };
  grpc?: { port: number; service?: string };
  sleep?: { seconds: number };
}

export interface Probe extends ProbeAction {
  initialDelaySeconds?: number;
  periodSeconds?: number;
  timeoutSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
  terminationGracePeriodSeconds?: number;
}

export interface SecurityContext extends Open {
  allowPrivilegeEscalation?: boolean;
  privileged?: boolean;
  readOnlyRootFilesystem?: boolean;
  runAsNonRoot?: boolean;
  runAsUser?: number;
  runAsGroup?: number;
  capabilities?: { add?: string[]; drop?: string[] };
  seccompProfile?: { type: string; localhostProfile?: string };
}

export interface PodSecurityContext extends Open {
  fsGroup?: number;
  fsGroupChangePolicy?: string;
  runAsNonRoot?: boolean;
  runAsUser?: number;
  runAsGroup?: number;
  supplementalGroups?: number[];
  seccompProfile?: { type: string; localhostProfile?: string };
  sysctls?: { name: string; value: string }[];
}

export interface Volume extends Open {
  name: string;
  configMap?: { name?: string; items?: KeyToPath[]; defaultMode?: number; optional?: boolean };
  secret?: { secretName?: string; items?: KeyToPath[]; defaultMode?: number; optional?: boolean };
  emptyDir?: { medium?: string; sizeLimit?: Quantity };
  persistentVolumeClaim?: { claimName: string; readOnly?: boolean };
  hostPath?: { path: string; type?: string };
  projected?: { sources?: Open[]; defaultMode?: number };
  downwardAPI?: Open;
  csi?: Open & { driver: string };
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

export interface PodAffinityTerm extends Open {
  topologyKey: string;
  labelSelector?: LabelSelector;
  namespaces?: string[];
  namespaceSelector?: LabelSelector;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface TopologySpreadConstraint extends Open {
  maxSkew: number;
  topologyKey: string;
  whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  labelSelector?: LabelSelector;
  minDomains?: number;
  matchLabelKeys?: string[];
}

export interface PodStatus extends Open {
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
}

export interface ContainerStatus extends Open {
  name: string;
  ready: boolean;
  restartCount: number;
  image: string;
  imageID: string;
  started?: boolean;
  containerID?: string;
  state?: ContainerState;
  lastState?: ContainerState;
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
  };
}
