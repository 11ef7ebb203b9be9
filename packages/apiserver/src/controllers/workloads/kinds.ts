import type { LabelSelector } from '../../label-selector.ts';
import type { ApiObject, Metadata } from '../../object.ts';

/** The parts of the workload kinds that the controllers look at. */

export interface PodTemplate {
  metadata?: Partial<Metadata>;
  spec: PodSpec;
}

export interface PodSpec {
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: {
        nodeSelectorTerms: {
          matchExpressions?: { key: string; operator: string; values?: string[] }[];
          matchFields?: { key: string; operator: string; values?: string[] }[];
        }[];
      };
    };
    [field: string]: unknown;
  };
  tolerations?: Toleration[];
  schedulerName?: string;
  schedulingGates?: { name: string }[];
  restartPolicy?: string;
  terminationGracePeriodSeconds?: number;
  hostNetwork?: boolean;
  hostname?: string;
  subdomain?: string;
  readinessGates?: { conditionType: string }[];
  containers: Container[];
  initContainers?: Container[];
  volumes?: { name: string; persistentVolumeClaim?: { claimName: string }; [source: string]: unknown }[];
  [field: string]: unknown;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  [field: string]: unknown;
}

export interface Container {
  name: string;
  image?: string;
  restartPolicy?: string;
  ports?: { name?: string; containerPort: number; protocol?: string }[];
  [field: string]: unknown;
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  lastUpdateTime?: string;
  lastProbeTime?: string | null;
  [field: string]: unknown;
}

export interface PodStatus {
  phase?: string;
  conditions?: Condition[];
  podIP?: string;
  podIPs?: { ip: string }[];
  startTime?: string;
  containerStatuses?: ContainerStatus[];
  [field: string]: unknown;
}

export interface ContainerStatus {
  name: string;
  ready: boolean;
  restartCount: number;
  state?: Record<string, Record<string, unknown>>;
  lastState?: Record<string, Record<string, unknown>>;
  [field: string]: unknown;
}

export interface Pod extends ApiObject {
  spec: PodSpec;
  status?: PodStatus;
}

export interface ReplicaSet extends ApiObject {
  spec: { replicas?: number; minReadySeconds?: number; selector: LabelSelector; template: PodTemplate };
  status?: {
    replicas?: number;
    fullyLabeledReplicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    terminatingReplicas?: number;
    observedGeneration?: number;
    conditions?: Condition[];
  };
}

export type IntOrPercent = number | string;

export interface Deployment extends ApiObject {
  spec: {
    replicas?: number;
    selector: LabelSelector;
    template: PodTemplate;
    strategy?: { type?: string; rollingUpdate?: { maxSurge?: IntOrPercent; maxUnavailable?: IntOrPercent } };
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
    paused?: boolean;
    progressDeadlineSeconds?: number;
  };
  status?: DeploymentStatus;
}

export interface DeploymentStatus {
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  terminatingReplicas?: number;
  conditions?: Condition[];
  collisionCount?: number;
}

export interface StatefulSet extends ApiObject {
  spec: {
    replicas?: number;
    selector: LabelSelector;
    template: PodTemplate;
    serviceName?: string;
    podManagementPolicy?: string;
    updateStrategy?: { type?: string; rollingUpdate?: { partition?: number } };
    volumeClaimTemplates?: ApiObject[];
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
    ordinals?: { start?: number };
    persistentVolumeClaimRetentionPolicy?: { whenDeleted?: string; whenScaled?: string };
  };
  status?: Record<string, unknown> & { currentRevision?: string; collisionCount?: number };
}

export interface DaemonSet extends ApiObject {
  spec: {
    selector: LabelSelector;
    template: PodTemplate;
    updateStrategy?: { type?: string; rollingUpdate?: { maxUnavailable?: IntOrPercent; maxSurge?: IntOrPercent } };
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
  };
  status?: Record<string, unknown>;
}

export interface Job extends ApiObject {
  spec: {
    parallelism?: number;
    completions?: number;
    backoffLimit?: number;
    activeDeadlineSeconds?: number;
    ttlSecondsAfterFinished?: number;
    suspend?: boolean;
    completionMode?: string;
    selector?: LabelSelector;
    template: PodTemplate;
  };
  status?: JobStatus;
}

export interface JobStatus {
  conditions?: Condition[];
  startTime?: string;
  completionTime?: string;
  active?: number;
  succeeded?: number;
  failed?: number;
  terminating?: number;
  ready?: number;
  completedIndexes?: string;
  uncountedTerminatedPods?: { succeeded?: string[]; failed?: string[] };
}

export interface CronJob extends ApiObject {
  spec: {
    schedule: string;
    timeZone?: string;
    startingDeadlineSeconds?: number;
    concurrencyPolicy?: string;
    suspend?: boolean;
    jobTemplate: { metadata?: Partial<Metadata>; spec: Job['spec'] };
    successfulJobsHistoryLimit?: number;
    failedJobsHistoryLimit?: number;
  };
  status?: {
    active?: {
      kind: string;
      namespace: string;
      name: string;
      uid: string;
      apiVersion: string;
      resourceVersion: string;
    }[];
    lastScheduleTime?: string;
    lastSuccessfulTime?: string;
  };
}

export interface Service extends ApiObject {
  spec: {
    type?: string;
    clusterIP?: string;
    selector?: Record<string, string>;
    ports?: { name?: string; protocol?: string; port: number; targetPort?: number | string; appProtocol?: string }[];
    publishNotReadyAddresses?: boolean;
  };
}

export interface Node extends ApiObject {
  spec: { taints?: { key: string; value?: string; effect: string }[]; unschedulable?: boolean; podCIDR?: string };
  status?: { conditions?: Condition[]; addresses?: { type: string; address: string }[]; [field: string]: unknown };
}
