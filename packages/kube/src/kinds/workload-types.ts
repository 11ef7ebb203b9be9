import type { ObjectMeta } from '../object.ts';
import type { PersistentVolumeClaimSpec } from './core-types.ts';
import type { IntOrString, LabelSelector, LooseCondition, Open, Quantity, Typed } from './meta-types.ts';
import type { PodTemplateSpec } from './pod-types.ts';

export interface Deployment extends Typed<'apps/v1', 'Deployment'> {
  spec?: DeploymentSpec;
  status?: DeploymentStatus;
}

export interface DeploymentSpec extends Open {
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

export interface DeploymentStatus extends Open {
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  conditions?: LooseCondition[];
  collisionCount?: number;
}

export interface StatefulSet extends Typed<'apps/v1', 'StatefulSet'> {
  spec?: Open & {
    replicas?: number;
    selector: LabelSelector;
    template: PodTemplateSpec;
    serviceName?: string;
    volumeClaimTemplates?: { metadata?: ObjectMeta; spec?: PersistentVolumeClaimSpec }[];
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
  status?: Open & {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    currentReplicas?: number;
    updatedReplicas?: number;
    currentRevision?: string;
    updateRevision?: string;
    conditions?: LooseCondition[];
  };
}

export interface DaemonSet extends Typed<'apps/v1', 'DaemonSet'> {
  spec?: Open & {
    selector: LabelSelector;
    template: PodTemplateSpec;
    updateStrategy?: {
      type?: 'RollingUpdate' | 'OnDelete';
      rollingUpdate?: { maxSurge?: IntOrString; maxUnavailable?: IntOrString };
    };
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
  };
  status?: Open & {
    observedGeneration?: number;
    desiredNumberScheduled?: number;
    currentNumberScheduled?: number;
    updatedNumberScheduled?: number;
    numberReady?: number;
    numberAvailable?: number;
    numberUnavailable?: number;
    numberMisscheduled?: number;
    conditions?: LooseCondition[];
  };
}

export interface ReplicaSet extends Typed<'apps/v1', 'ReplicaSet'> {
  spec?: Open & { replicas?: number; selector: LabelSelector; template?: PodTemplateSpec; minReadySeconds?: number };
  status?: Open & {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    fullyLabeledReplicas?: number;
    conditions?: LooseCondition[];
  };
}

export interface ControllerRevision extends Typed<'apps/v1', 'ControllerRevision'> {
  revision: number;
  data?: unknown;
}

export interface Job extends Typed<'batch/v1', 'Job'> {
  spec?: JobSpec;
  status?: Open & {
    active?: number;
    ready?: number;
    succeeded?: number;
    failed?: number;
    startTime?: string;
    completionTime?: string;
    conditions?: LooseCondition[];
  };
}

export interface JobSpec extends Open {
  template: PodTemplateSpec;
  parallelism?: number;
  completions?: number;
  completionMode?: 'NonIndexed' | 'Indexed';
  backoffLimit?: number;
  activeDeadlineSeconds?: number;
  ttlSecondsAfterFinished?: number;
  suspend?: boolean;
  selector?: LabelSelector;
  manualSelector?: boolean;
  podFailurePolicy?: Open;
  podReplacementPolicy?: string;
}

export interface CronJob extends Typed<'batch/v1', 'CronJob'> {
  spec?: Open & {
    schedule: string;
    timeZone?: string;
    jobTemplate: { metadata?: ObjectMeta; spec?: JobSpec };
    concurrencyPolicy?: 'Allow' | 'Forbid' | 'Replace';
    suspend?: boolean;
    startingDeadlineSeconds?: number;
    successfulJobsHistoryLimit?: number;
    failedJobsHistoryLimit?: number;
  };
  status?: Open & { active?: Open[]; lastScheduleTime?: string; lastSuccessfulTime?: string };
}

export interface HorizontalPodAutoscaler extends Typed<'autoscaling/v2', 'HorizontalPodAutoscaler'> {
  spec?: Open & {
    scaleTargetRef: { apiVersion?: string; kind: string; name: string };
    minReplicas?: number;
    maxReplicas: number;
    metrics?: (Open & {
      type: string;
      resource?: {
        name: string;
        target: { type: string; averageUtilization?: number; averageValue?: Quantity; value?: Quantity };
      };
    })[];
    behavior?: Open;
  };
  status?: Open & {
    currentReplicas?: number;
    desiredReplicas?: number;
    lastScaleTime?: string;
    observedGeneration?: number;
    conditions?: LooseCondition[];
  };
}

export interface PodDisruptionBudget extends Typed<'policy/v1', 'PodDisruptionBudget'> {
  spec?: {
    minAvailable?: IntOrString;
    maxUnavailable?: IntOrString;
    selector?: LabelSelector;
    unhealthyPodEvictionPolicy?: string;
  };
  status?: Open & {
    currentHealthy?: number;
    desiredHealthy?: number;
    disruptionsAllowed?: number;
    expectedPods?: number;
    observedGeneration?: number;
    conditions?: LooseCondition[];
  };
}
