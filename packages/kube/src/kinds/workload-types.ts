import type { ObjectMeta } from '../object.ts';
import type { PersistentVolumeClaim } from './core-types.ts';
import type { IntOrString, LabelSelector, LooseCondition, Open, Quantity, Typed } from './meta-types.ts';
import type { PodTemplateSpec } from './pod-types.ts';

export type Deployment = Typed<'apps/v1', 'Deployment'> & {
  spec?: DeploymentSpec;
  status?: DeploymentStatus;
};

export interface DeploymentSpec {
  replicas?: number;
  selector: LabelSelector;
  template: PodTemplateSpec;
  strategy?: {
    type?: 'RollingUpdate' | 'Recreate';
    rollingUpdate?: { maxSurge?: IntOrString; maxUnavailable?: IntOrString };
  };
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
  progressDeadlineSeconds?: number;
  paused?: boolean;
}

export interface DeploymentStatus {
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  conditions?: LooseCondition[];
  terminatingReplicas?: number;
  collisionCount?: number;
}

export type StatefulSet = Typed<'apps/v1', 'StatefulSet'> & {
  spec?: {
    replicas?: number;
    selector: LabelSelector;
    template: PodTemplateSpec;
    serviceName?: string;
    volumeClaimTemplates?: Partial<PersistentVolumeClaim>[];
    podManagementPolicy?: 'OrderedReady' | 'Parallel';
    updateStrategy?: {
      type?: 'RollingUpdate' | 'OnDelete';
      rollingUpdate?: { partition?: number; maxUnavailable?: IntOrString };
    };
    revisionHistoryLimit?: number;
    minReadySeconds?: number;
    persistentVolumeClaimRetentionPolicy?: { whenDeleted?: string; whenScaled?: string };
    ordinals?: { start?: number };
  };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    currentReplicas?: number;
    updatedReplicas?: number;
    currentRevision?: string;
    updateRevision?: string;
    collisionCount?: number;
    conditions?: LooseCondition[];
  };
};

export type DaemonSet = Typed<'apps/v1', 'DaemonSet'> & {
  spec?: {
    selector: LabelSelector;
    template: PodTemplateSpec;
    updateStrategy?: {
      type?: 'RollingUpdate' | 'OnDelete';
      rollingUpdate?: { maxSurge?: IntOrString; maxUnavailable?: IntOrString };
    };
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
  };
  status?: {
    observedGeneration?: number;
    desiredNumberScheduled?: number;
    currentNumberScheduled?: number;
    updatedNumberScheduled?: number;
    numberReady?: number;
    numberAvailable?: number;
    numberUnavailable?: number;
    numberMisscheduled?: number;
    collisionCount?: number;
    conditions?: LooseCondition[];
  };
};

export type ReplicaSet = Typed<'apps/v1', 'ReplicaSet'> & {
  spec?: { replicas?: number; selector: LabelSelector; template?: PodTemplateSpec; minReadySeconds?: number };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    fullyLabeledReplicas?: number;
    terminatingReplicas?: number;
    conditions?: LooseCondition[];
  };
};

export type ControllerRevision = Typed<'apps/v1', 'ControllerRevision'> & {
  revision: number;
  data?: unknown;
};

export type Job = Typed<'batch/v1', 'Job'> & {
  spec?: JobSpec;
  status?: {
    active?: number;
    ready?: number;
    succeeded?: number;
    failed?: number;
    startTime?: string;
    completionTime?: string;
    completedIndexes?: string;
    failedIndexes?: string;
    terminating?: number;
    uncountedTerminatedPods?: Open;
    conditions?: LooseCondition[];
  };
};

export interface JobSpec {
  template: PodTemplateSpec;
  parallelism?: number;
  completions?: number;
  completionMode?: 'NonIndexed' | 'Indexed';
  backoffLimit?: number;
  backoffLimitPerIndex?: number;
  maxFailedIndexes?: number;
  successPolicy?: Open;
  managedBy?: string;
  activeDeadlineSeconds?: number;
  ttlSecondsAfterFinished?: number;
  suspend?: boolean;
  selector?: LabelSelector;
  manualSelector?: boolean;
  podFailurePolicy?: Open;
  podReplacementPolicy?: string;
}

export type CronJob = Typed<'batch/v1', 'CronJob'> & {
  spec?: {
    schedule: string;
    timeZone?: string;
    jobTemplate: { metadata?: ObjectMeta; spec?: JobSpec };
    concurrencyPolicy?: 'Allow' | 'Forbid' | 'Replace';
    suspend?: boolean;
    startingDeadlineSeconds?: number;
    successfulJobsHistoryLimit?: number;
    failedJobsHistoryLimit?: number;
  };
  status?: { active?: Open[]; lastScheduleTime?: string; lastSuccessfulTime?: string };
};

export type HorizontalPodAutoscaler = Typed<'autoscaling/v2', 'HorizontalPodAutoscaler'> & {
  spec?: {
    scaleTargetRef: { apiVersion?: string; kind: string; name: string };
    minReplicas?: number;
    maxReplicas: number;
    metrics?: {
      type: string;
      containerResource?: Open;
      external?: Open;
      object?: Open;
      pods?: Open;
      resource?: {
        name: string;
        target: { type: string; averageUtilization?: number; averageValue?: Quantity; value?: Quantity };
      };
    }[];
    behavior?: Open;
  };
  status?: {
    currentReplicas?: number;
    desiredReplicas?: number;
    lastScaleTime?: string;
    currentMetrics?: Open[];
    observedGeneration?: number;
    conditions?: LooseCondition[];
  };
};

export type PodDisruptionBudget = Typed<'policy/v1', 'PodDisruptionBudget'> & {
  spec?: {
    minAvailable?: IntOrString;
    maxUnavailable?: IntOrString;
    selector?: LabelSelector;
    unhealthyPodEvictionPolicy?: string;
  };
  status?: {
    currentHealthy?: number;
    desiredHealthy?: number;
    disruptionsAllowed?: number;
    disruptedPods?: Record<string, string>;
    expectedPods?: number;
    observedGeneration?: number;
    conditions?: LooseCondition[];
  };
};
