import { createHash } from 'node:crypto';
import { type DeepReadonly, type KubeObject, Pod } from '@slipway/kube';
import { healthOf } from '@slipway/manifests';

import { podLabels } from './address.ts';
import type { Place } from './place.ts';

/** Files of a Secret or ConfigMap and where a container has them. */
export interface MountedFiles {
  readonly name: string;
  readonly path: string;
  readonly secret?: string;
  readonly configMap?: string;
  /** Only these keys. Default: all. */
  readonly keys?: readonly string[];
}

export interface Program {
  readonly component: string;
  readonly image: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly port: { readonly name: string; readonly containerPort: number };
  readonly files: readonly MountedFiles[];
  readonly requests: { readonly cpu: string; readonly memory: string };
  readonly readiness: Readonly<Record<string, unknown>>;
  readonly liveness: Readonly<Record<string, unknown>>;
  readonly env?: readonly Readonly<Record<string, unknown>>[];
  readonly mounts?: readonly Readonly<Record<string, unknown>>[];
  /** What it reads only when it starts: when this changes it is started again. */
  readonly readAtStart: readonly string[];
}

/** Nobody inside needs rights on the host: no token, no root, no privileges, nothing to write but its own data. */
const user = 65_532;

/** The pods that run a program. */
export function podTemplate(place: Place, program: Program): Record<string, unknown> {
  const { component, image, command, args, port, files, requests, readiness, liveness, env, mounts = [] } = program;
  return {
    metadata: {
      labels: podLabels(place, component),
      annotations: { 'openmcp.cloud/read-at-start': digest(program.readAtStart) },
    },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: user,
        runAsGroup: user,
        fsGroup: user,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: podLabels(place, component) },
        },
      ],
      containers: [
        {
          name: component,
          image,
          command: [command],
          args: [...args],
          ...(env ? { env } : {}),
          ports: [port],
          resources: { requests },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: [...files.map(({ name, path }) => ({ name, mountPath: path, readOnly: true })), ...mounts],
          // Slow machines get five minutes to start; from then on a program that does not answer is started again.
          startupProbe: { ...readiness, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 300 },
          readinessProbe: { ...readiness, periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 3 },
          livenessProbe: { ...liveness, periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 6 },
        },
      ],
      volumes: files.map(({ name, secret, configMap, keys }) => {
        const items = keys ? { items: keys.map((key) => ({ key, path: key })) } : {};
        return secret
          ? { name, secret: { secretName: secret, defaultMode: 0o440, ...items } }
          : { name, configMap: { name: configMap, ...items } };
      }),
    },
  };
}

/** A variable with a field of the pod. Its version is the default, but without it what is applied would never be what is there. */
export function fieldVariable(name: string, fieldPath: string): Record<string, unknown> {
  return { name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } };
}

/** Certificates and public keys only: private ones do not belong into an annotation, not even their digest. */
function digest(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 32);
}

/** How a Deployment or StatefulSet is doing. */
export interface Progress {
  /** Everything runs as asked for. */
  readonly rolledOut: boolean;
  /** Some of it works, be it old or new. */
  readonly serves: boolean;
  /** What it waits for. */
  readonly message: string;
}

export async function progressOf(
  place: Place,
  component: string,
  workload: DeepReadonly<KubeObject>,
): Promise<Progress> {
  const health = healthOf(workload);
  const rolledOut = health.status === 'Current';
  const status = (workload['status'] ?? {}) as { availableReplicas?: number; readyReplicas?: number };
  const serves = (status.availableReplicas ?? status.readyReplicas ?? 0) > 0;
  if (rolledOut) return { rolledOut, serves, message: health.message };
  const reasons = await waitingReasons(place, component);
  return { rolledOut, serves, message: [health.message, ...reasons].join('; ') };
}

/** Why containers do not run, in the kubelet's and the scheduler's own words for it. Their messages name what is not the customer's business. */
async function waitingReasons(place: Place, component: string): Promise<string[]> {
  const reasons = new Set<string>();
  const scope = { namespace: place.namespace, labelSelector: podLabels(place, component) };
  for await (const { status } of place.client.list(Pod, scope)) {
    for (const { state } of status?.containerStatuses ?? [])
      if (state?.waiting?.reason) reasons.add(state.waiting.reason);
    for (const { type, status: holds, reason } of status?.conditions ?? []) {
      if (type === 'PodScheduled' && holds === 'False' && reason) reasons.add(reason);
    }
  }
  return [...reasons].sort();
}
