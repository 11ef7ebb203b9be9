import { cloneJson } from '../../clone-json.ts';
import { ApiError } from '../../api-error.ts';
import type { LocalClient } from '../../local-client.ts';
import type { ApiObject } from '../../object.ts';
import type { Condition, Pod, PodTemplate } from './kinds.ts';
import { controllerReference } from './ownership.ts';

export const PODS = { group: '', version: 'v1', plural: 'pods' };

export function conditionOf(object: { conditions?: Condition[] } | undefined, type: string): Condition | undefined {
  return object?.conditions?.find((condition) => condition.type === type);
}

export function isPodFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Neither finished nor on its way out. */
export function isPodActive(pod: Pod): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp === undefined;
}

/** On its way out, but still there. */
export function isPodTerminating(pod: Pod): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp !== undefined;
}

export function isPodReady(pod: Pod): boolean {
  return conditionOf(pod.status, 'Ready')?.status === 'True';
}

/** Milliseconds until a ready pod counts as available: 0 when it does, `undefined` when it is not ready. */
export function msUntilAvailable(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  if (!isPodReady(pod)) {
    return undefined;
  }
  const since = Date.parse(conditionOf(pod.status, 'Ready')?.lastTransitionTime ?? '');
  if (minReadySeconds === 0 || Number.isNaN(since)) {
    return 0;
  }
  return Math.max(0, since + minReadySeconds * 1_000 - now);
}

export function isPodAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  return msUntilAvailable(pod, minReadySeconds, now) === 0;
}

/** The pod an owner makes from its template. */
export function podFrom(template: PodTemplate, owner: ApiObject, identity: Partial<ApiObject['metadata']>): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: owner.metadata.namespace,
      ...(labels ? { labels: { ...labels, ...identity.labels } } : { labels: identity.labels }),
      ...(annotations || identity.annotations ? { annotations: { ...annotations, ...identity.annotations } } : {}),
      ...(finalizers || identity.finalizers
        ? { finalizers: [...(finalizers ?? []), ...(identity.finalizers ?? [])] }
        : {}),
      ...(identity.name ? { name: identity.name } : {}),
      ...(identity.generateName ? { generateName: identity.generateName } : {}),
      ownerReferences: [controllerReference(owner)],
    },
    spec: cloneJson(template.spec),
  };
}

export async function createPod(client: LocalClient, pod: Pod): Promise<Pod> {
  return (await client.create({ ...PODS, namespace: pod.metadata.namespace }, pod)) as Pod;
}

/** Deletes a pod with its own grace period; one that is gone already is fine. */
export async function deletePod(client: LocalClient, pod: Pod): Promise<void> {
  const { namespace, name, uid } = pod.metadata;
  try {
    await client.delete({ ...PODS, namespace, name: name! }, { preconditions: { uid: uid! } });
  } catch (error) {
    if (!(error instanceof ApiError && (error.status.code === 404 || error.status.code === 409))) {
      throw error;
    }
  }
}

/** Which pods to give up first: not scheduled, pending, not ready, on the fullest node, ready for the shortest time, newest. */
export function rankForDeletion(pods: readonly Pod[]): Pod[] {
  const perNode = new Map<string, number>();
  for (const pod of pods) {
    const node = pod.spec.nodeName ?? '';
    perNode.set(node, (perNode.get(node) ?? 0) + 1);
  }
  const phaseRank: Record<string, number> = { Pending: 0, Unknown: 1, Running: 2 };
  const time = (text: string | undefined) => (text === undefined ? Number.POSITIVE_INFINITY : Date.parse(text));
  const readySince = (pod: Pod) => time(conditionOf(pod.status, 'Ready')?.lastTransitionTime);
  const cost = (pod: Pod) => Number(pod.metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'] ?? 0);
  const byRank = (a: Pod, b: Pod): number =>
    Number(Boolean(a.spec.nodeName)) - Number(Boolean(b.spec.nodeName)) ||
    (phaseRank[a.status?.phase ?? 'Pending'] ?? 0) - (phaseRank[b.status?.phase ?? 'Pending'] ?? 0) ||
    Number(isPodReady(a)) - Number(isPodReady(b)) ||
    cost(a) - cost(b) ||
    perNode.get(b.spec.nodeName ?? '')! - perNode.get(a.spec.nodeName ?? '')! ||
    (isPodReady(a) ? readySince(b) - readySince(a) : 0) ||
    time(b.metadata.creationTimestamp) - time(a.metadata.creationTimestamp);
  return [...pods].sort(byRank);
}
