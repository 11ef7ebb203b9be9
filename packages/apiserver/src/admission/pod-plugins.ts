import { cloneJson } from '../clone-json.ts';
import { forbidden } from '../api-error.ts';
import type { StoredObjects } from '../auth/stored-objects.ts';
import type { ApiObject } from '../object.ts';
import type { Admission, AdmissionContext } from './admission.ts';
import { requestName } from './request-name.ts';

interface Toleration {
  key?: string;
  operator?: string;
  effect?: string;
  tolerationSeconds?: number;
}

interface PodSpec {
  priority?: number;
  priorityClassName?: string;
  preemptionPolicy?: string;
  tolerations?: Toleration[];
  serviceAccountName?: string;
  serviceAccount?: string;
  automountServiceAccountToken?: boolean;
  imagePullSecrets?: { name: string }[];
  volumes?: { name: string; projected?: unknown }[];
  containers?: Container[];
  initContainers?: Container[];
}

interface Container {
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
}

interface PriorityClass extends ApiObject {
  value: number;
  globalDefault?: boolean;
  preemptionPolicy?: string;
}

const PRIORITY_CLASSES = 'priorityclasses.scheduling.k8s.io';
const TOKEN_MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';

function newPodSpec(context: AdmissionContext): PodSpec | undefined {
  const isNewPod =
    context.operation === 'CREATE' &&
    context.resource.group === '' &&
    context.resource.plural === 'pods' &&
    context.subresource === '';
  return isNewPod ? (context.object?.['spec'] as PodSpec | undefined) : undefined;
}

/** Turns the name of a PriorityClass into the number the scheduler uses. */
export function podPriority(objects: StoredObjects): Admission {
  return {
    mutate(context) {
      keepPriority(context);
      const spec = newPodSpec(context);
      if (!spec) {
        return;
      }
      const found = classOf(context, spec);
      const priority = found?.value ?? 0;
      if (spec.priority !== undefined && spec.priority !== null && spec.priority !== priority) {
        const why =
          `the integer value of priority (${spec.priority}) must not be provided in pod spec; ` +
          `priority admission controller computed ${priority} from the given PriorityClass name`;
        throw forbidden(context.resource, requestName(context), why);
      }
      spec.priority = priority;
      spec.preemptionPolicy ??= found?.preemptionPolicy ?? 'PreemptLowerPriority';
    },
    validate() {},
  };

  function classOf(context: AdmissionContext, spec: PodSpec): PriorityClass | undefined {
    if (spec.priorityClassName) {
      const named = objects.lookup(PRIORITY_CLASSES, undefined, spec.priorityClassName);
      if (!named) {
        const why = `no PriorityClass with name ${spec.priorityClassName} was found`;
        throw forbidden(context.resource, requestName(context), why);
      }
      return named as PriorityClass;
    }
    let chosen: PriorityClass | undefined;
    for (const candidate of objects.scan(PRIORITY_CLASSES) as Iterable<PriorityClass>) {
      if (candidate.globalDefault && (!chosen || candidate.value < chosen.value)) {
        chosen = candidate;
      }
    }
    if (chosen) {
      spec.priorityClassName = chosen.metadata.name!;
    }
    return chosen;
  }
}

/** What admission computed for a new pod stays when an update leaves it out: clients that build a pod anew do not know it. */
function keepPriority({ operation, resource, subresource, object, oldObject }: AdmissionContext): void {
  if (operation !== 'UPDATE' || resource.group !== '' || resource.plural !== 'pods' || subresource !== '') return;
  const spec = object?.['spec'] as PodSpec | undefined;
  const before = oldObject?.['spec'] as PodSpec | undefined;
  if (!spec || !before) return;
  if (before.priority !== undefined) spec.priority ??= before.priority;
  if (before.preemptionPolicy !== undefined) spec.preemptionPolicy ??= before.preemptionPolicy;
}

/** Pods stay five minutes on a node that stops answering. */
export function defaultTolerationSeconds(): Admission {
  return {
    mutate(context) {
      const isPod = context.resource.group === '' && context.resource.plural === 'pods' && context.subresource === '';
      const spec =
        isPod && context.operation !== 'DELETE' ? (context.object?.['spec'] as PodSpec | undefined) : undefined;
      if (!spec) {
        return;
      }
      for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
        const tolerations = spec.tolerations ?? [];
        const isTolerated = tolerations.some(
          (toleration) =>
            (!toleration.key || toleration.key === key) && (!toleration.effect || toleration.effect === 'NoExecute'),
        );
        if (!isTolerated) {
          const added = { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
          spec.tolerations = [...tolerations, added];
        }
      }
    },
    validate() {},
  };
}

/** Claims, volumes and their classes get the finalizer that keeps them while they are used. */
export function storageInUseProtection(): Admission {
  const finalizers: Record<string, string> = {
    '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
    '/persistentvolumes': 'kubernetes.io/pv-protection',
    'storage.k8s.io/volumeattributesclasses': 'kubernetes.io/vac-protection',
  };
  return {
    mutate({ operation, resource, subresource, object }) {
      const finalizer = finalizers[`${resource.group}/${resource.plural}`];
      if (finalizer && operation === 'CREATE' && subresource === '' && object) {
        const present = object.metadata.finalizers ?? [];
        if (!present.includes(finalizer)) {
          object.metadata.finalizers = [...present, finalizer];
        }
      }
    },
    validate() {},
  };
}

/** Pods run as a ServiceAccount that exists, with a token mounted. Off by default, as in test clusters without controllers. */
export function podServiceAccount(objects: StoredObjects, randomSuffix: () => string): Admission {
  return {
    mutate(context) {
      const spec = newPodSpec(context);
      // Mirror pods are made by kubelets and never touched.
      if (!spec || context.object?.metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined) {
        return;
      }
      spec.serviceAccountName ||= 'default';
      spec.serviceAccount = spec.serviceAccountName;
      const account = objects.lookup('serviceaccounts', context.namespace, spec.serviceAccountName);
      if (!account) {
        const why = `error looking up service account ${context.namespace}/${spec.serviceAccountName}: serviceaccount "${spec.serviceAccountName}" not found`;
        throw forbidden(context.resource, requestName(context), why);
      }
      const secrets = account['imagePullSecrets'] as { name: string }[] | undefined;
      if (!spec.imagePullSecrets?.length && secrets?.length) {
        spec.imagePullSecrets = cloneJson(secrets);
      }
      const mounts = spec.automountServiceAccountToken ?? account['automountServiceAccountToken'] ?? true;
      if (mounts) {
        mountToken(spec, randomSuffix);
      }
    },
    validate() {},
  };
}

function mountToken(spec: PodSpec, randomSuffix: () => string): void {
  const name = `kube-api-access-${randomSuffix()}`;
  let isMounted = false;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const mounts = container.volumeMounts ?? [];
    if (!mounts.some((mount) => mount.mountPath === TOKEN_MOUNT_PATH)) {
      container.volumeMounts = [...mounts, { name, readOnly: true, mountPath: TOKEN_MOUNT_PATH }];
      isMounted = true;
    }
  }
  if (!isMounted) {
    return;
  }
  const projected = {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 420,
  };
  spec.volumes = [...(spec.volumes ?? []), { name, projected }];
}
