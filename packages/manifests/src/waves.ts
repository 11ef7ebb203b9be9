import type { KubeObject } from '@slipway/kube';

import { annotations } from './annotations.ts';
import { compareRefs, groupOf, refKey, refOf, refText, type ObjectRef } from './identity.ts';
import { ManifestError, type ManifestProblem } from './manifest-error.ts';

/** Objects that are applied together, in parallel. */
export interface Wave<T extends KubeObject = KubeObject> {
  /** For people: the wave's number, with a second one where dependencies split a wave, such as `40` or `40.1`. */
  readonly label: string;
  readonly objects: readonly T[];
}

/**
 * The order by kind. What others need comes first: namespaces, definitions, permissions, configuration, then what runs, then
 * the webhook configurations (their backends run by then), then custom resources (their controllers run by then).
 */
const kindWaves: Readonly<Record<string, number>> = {
  Namespace: 0,
  'CustomResourceDefinition.apiextensions.k8s.io': 10,
  'PriorityClass.scheduling.k8s.io': 20,
  'StorageClass.storage.k8s.io': 20,
  'RuntimeClass.node.k8s.io': 20,
  'IngressClass.networking.k8s.io': 20,
  ResourceQuota: 20,
  LimitRange: 20,
  ServiceAccount: 30,
  'Role.rbac.authorization.k8s.io': 30,
  'ClusterRole.rbac.authorization.k8s.io': 30,
  'RoleBinding.rbac.authorization.k8s.io': 40,
  'ClusterRoleBinding.rbac.authorization.k8s.io': 40,
  ConfigMap: 50,
  Secret: 50,
  PersistentVolume: 50,
  PersistentVolumeClaim: 50,
  'NetworkPolicy.networking.k8s.io': 50,
  Service: 60,
  Endpoints: 60,
  'EndpointSlice.discovery.k8s.io': 60,
  'PodDisruptionBudget.policy': 60,
  Pod: 80,
  ReplicationController: 80,
  'ReplicaSet.apps': 80,
  'Deployment.apps': 80,
  'StatefulSet.apps': 80,
  'DaemonSet.apps': 80,
  'Job.batch': 90,
  'CronJob.batch': 90,
  'HorizontalPodAutoscaler.autoscaling': 90,
  'Ingress.networking.k8s.io': 90,
  'APIService.apiregistration.k8s.io': 100,
  'MutatingWebhookConfiguration.admissionregistration.k8s.io': 110,
  'ValidatingWebhookConfiguration.admissionregistration.k8s.io': 110,
  'ValidatingAdmissionPolicy.admissionregistration.k8s.io': 110,
  'ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io': 110,
};
const otherBuiltInWave = 70;
const customResourceWave = 120;

/** Built-in groups end in `.k8s.io` or have no dot; everything else is a custom resource. */
function isBuiltIn(group: string): boolean {
  return !group.includes('.') || group.endsWith('.k8s.io');
}

/** The wave of an object by its kind alone. */
export function defaultWave(object: Pick<KubeObject, 'apiVersion' | 'kind'>): number {
  const group = groupOf(object.apiVersion);
  const known = kindWaves[group ? `${object.kind}.${group}` : object.kind];
  if (known !== undefined) return known;
  return isBuiltIn(group) ? otherBuiltInWave : customResourceWave;
}

interface Node<T> {
  readonly object: T;
  readonly ref: ObjectRef;
  readonly wave: number;
  readonly dependencies: Node<T>[];
  place?: { wave: number; depth: number };
}

/**
 * Puts a set in order: waves by kind or annotation, split further where `depends-on` says so. Inside a wave the order is by
 * identity, so the same set always runs the same way. A cycle, an unknown dependency or a duplicate is a
 * {@link ManifestError} that shows it.
 */
export function orderInWaves<T extends KubeObject>(
  objects: readonly T[],
  options: {
    /** Dependencies on objects outside the set are ignored: for deleting what is left of one. Default false. */ partial?: boolean;
  } = {},
): Wave<T>[] {
  const problems: ManifestProblem[] = [];
  const nodes = new Map<string, Node<T>>();
  for (const object of objects) {
    const ref = refOf(object);
    const key = refKey(ref);
    if (nodes.has(key)) problems.push({ source: refText(ref), message: 'stands in the set twice' });
    else nodes.set(key, { object, ref, wave: waveOf(object, ref, problems), dependencies: [] });
  }
  for (const node of nodes.values()) connect(node, nodes, problems, options.partial ?? false);
  if (problems.length > 0) throw new ManifestError(problems);

  for (const node of nodes.values()) place(node, []);
  const buckets = new Map<string, { wave: number; depth: number; nodes: Node<T>[] }>();
  for (const node of nodes.values()) {
    const { wave, depth } = node.place!;
    const label = `${wave}.${depth}`;
    const bucket = buckets.get(label);
    if (bucket) bucket.nodes.push(node);
    else buckets.set(label, { wave, depth, nodes: [node] });
  }
  return [...buckets.values()]
    .sort((a, b) => a.wave - b.wave || a.depth - b.depth)
    .map(({ wave, depth, nodes: members }) => ({
      label: depth === 0 ? String(wave) : `${wave}.${depth}`,
      objects: members.sort((a, b) => compareRefs(a.ref, b.ref)).map((node) => node.object),
    }));
}

/** Whether an object's place in the order was asked for, rather than follows from its kind. */
export function hasAskedForWave(object: KubeObject): boolean {
  return object.metadata.annotations?.[annotations.wave] !== undefined;
}

/** The objects an object asks to come after. */
export function dependenciesOf(object: KubeObject): ObjectRef[] {
  const parts = object.metadata.annotations?.[annotations.dependsOn]?.split(',') ?? [];
  return parts.map((part) => parseDependency(part.trim())).filter((ref) => ref !== undefined);
}

function waveOf(object: KubeObject, ref: ObjectRef, problems: ManifestProblem[]): number {
  const text = object.metadata.annotations?.[annotations.wave];
  if (text === undefined) return defaultWave(object);
  if (!/^-?\d{1,6}$/.test(text.trim())) {
    problems.push({
      source: refText(ref),
      field: `metadata.annotations[${annotations.wave}]`,
      message: `must be a whole number, not "${text}"`,
    });
    return 0;
  }
  return Number(text);
}

function connect<T extends KubeObject>(
  node: Node<T>,
  nodes: ReadonlyMap<string, Node<T>>,
  problems: ManifestProblem[],
  partial: boolean,
): void {
  for (const key of impliedDependencies(node.ref, nodes)) {
    const target = nodes.get(key);
    if (target && target !== node) node.dependencies.push(target);
  }
  const text = node.object.metadata.annotations?.[annotations.dependsOn];
  if (!text) return;
  const field = `metadata.annotations[${annotations.dependsOn}]`;
  for (const part of text.split(',')) {
    const ref = parseDependency(part.trim());
    if (!ref) {
      problems.push({
        source: refText(node.ref),
        field,
        message: `"${part.trim()}" is not group/Kind/name or group/Kind/namespace/name`,
      });
      continue;
    }
    const target = nodes.get(refKey(ref));
    if (!target && partial) continue;
    if (!target)
      problems.push({
        source: refText(node.ref),
        field,
        message: `depends on ${refText(ref)}, which is not in the set`,
      });
    else node.dependencies.push(target);
  }
}

/** A namespace comes before what is in it, a definition before its objects, whatever annotations say. */
function* impliedDependencies<T extends KubeObject>(
  ref: ObjectRef,
  nodes: ReadonlyMap<string, Node<T>>,
): Generator<string> {
  if (ref.namespace) yield refKey({ group: '', kind: 'Namespace', namespace: '', name: ref.namespace });
  if (isBuiltIn(ref.group)) return;
  for (const node of nodes.values()) {
    if (node.ref.kind !== 'CustomResourceDefinition') continue;
    const spec = node.object['spec'] as { group?: string; names?: { kind?: string } } | undefined;
    if (spec?.group === ref.group && spec.names?.kind === ref.kind) yield refKey(node.ref);
  }
}

function parseDependency(text: string): ObjectRef | undefined {
  const parts = text.split('/');
  if (parts.length < 3 || parts.length > 4 || parts.some((part) => part === '')) return undefined;
  const [group, kind] = parts as [string, string];
  return {
    group: group === 'core' ? '' : group,
    kind,
    namespace: parts.length === 4 ? parts[2]! : '',
    name: parts.at(-1)!,
  };
}

function place<T extends KubeObject>(node: Node<T>, path: readonly Node<T>[]): { wave: number; depth: number } {
  if (node.place) return node.place;
  if (path.includes(node)) {
    const cycle = [...path.slice(path.indexOf(node)), node].map((step) => refText(step.ref));
    throw new ManifestError([{ source: refText(node.ref), message: `depends on itself: ${cycle.join(' → ')}` }]);
  }
  let result = { wave: node.wave, depth: 0 };
  for (const dependency of node.dependencies) {
    const before = place(dependency, [...path, node]);
    const after =
      before.wave < node.wave ? { wave: node.wave, depth: 0 } : { wave: before.wave, depth: before.depth + 1 };
    if (after.wave > result.wave || (after.wave === result.wave && after.depth > result.depth)) result = after;
  }
  node.place = result;
  return result;
}
