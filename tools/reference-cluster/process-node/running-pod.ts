import type { Pod } from '../pod-lifecycle.ts';

/** The parts of a pod that a node needs to run it, beyond what decides where it runs. */
export interface RunnablePod extends Pod {
  metadata: Pod['metadata'] & {
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    generation?: number;
    deletionGracePeriodSeconds?: number;
  };
  spec: Omit<Pod['spec'], 'containers' | 'initContainers'> & {
    containers: Container[];
    initContainers?: Container[];
    volumes?: Volume[];
    serviceAccountName?: string;
    hostNetwork?: boolean;
    terminationGracePeriodSeconds?: number;
  };
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  workingDir?: string;
  env?: EnvironmentVariable[];
  envFrom?: EnvironmentSource[];
  ports?: { name?: string; containerPort: number }[];
  volumeMounts?: VolumeMount[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  /** Of an init container: `Always` makes it a sidecar. */
  restartPolicy?: string;
}

export interface KeyReference {
  name: string;
  key: string;
  optional?: boolean;
}

export interface EnvironmentVariable {
  name: string;
  value?: string;
  valueFrom?: {
    secretKeyRef?: KeyReference;
    configMapKeyRef?: KeyReference;
    fieldRef?: { fieldPath: string };
  };
}

export interface EnvironmentSource {
  prefix?: string;
  secretRef?: { name: string; optional?: boolean };
  configMapRef?: { name: string; optional?: boolean };
}

export interface VolumeMount {
  name: string;
  mountPath: string;
  subPath?: string;
  readOnly?: boolean;
}

export interface KeyToPath {
  key: string;
  path: string;
  mode?: number;
}

export interface ObjectFiles {
  items?: KeyToPath[];
  optional?: boolean;
}

export interface FieldFile {
  path: string;
  mode?: number;
  fieldRef?: { fieldPath: string };
}

export interface TokenFile {
  path: string;
  audience?: string;
  expirationSeconds?: number;
}

export interface ProjectedSource {
  secret?: ObjectFiles & { name: string };
  configMap?: ObjectFiles & { name: string };
  downwardAPI?: { items?: FieldFile[] };
  serviceAccountToken?: TokenFile;
}

export interface Volume {
  name: string;
  secret?: ObjectFiles & { secretName: string; defaultMode?: number };
  configMap?: ObjectFiles & { name: string; defaultMode?: number };
  projected?: { sources: ProjectedSource[]; defaultMode?: number };
  downwardAPI?: { items?: FieldFile[]; defaultMode?: number };
  emptyDir?: object;
  hostPath?: { path: string; type?: string };
  persistentVolumeClaim?: { claimName: string };
}

export interface Probe {
  httpGet?: {
    path?: string;
    port: number | string;
    host?: string;
    scheme?: string;
    httpHeaders?: { name: string; value: string }[];
  };
  tcpSocket?: { port: number | string; host?: string };
  exec?: { command?: string[] };
  initialDelaySeconds?: number;
  periodSeconds?: number;
  timeoutSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
}
