import { meets } from '../../label-selector.ts';
import type { Node, Pod, Toleration } from './kinds.ts';

interface Taint {
  key: string;
  value?: string;
  effect: string;
}

export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some(
    (toleration) =>
      (!toleration.effect || toleration.effect === taint.effect) &&
      (toleration.key === undefined || toleration.key === '' || toleration.key === taint.key) &&
      (toleration.operator === 'Exists' || (toleration.value ?? '') === (taint.value ?? '')),
  );
}

/** Whether a pod may run on a node: selectors, required affinity, taints, cordon. Resources are not counted: simulated nodes have enough. */
export function fitsNode(pod: Pod, node: Node): boolean {
  return !whyNot(pod, node);
}

export function matchesNodeSelection(pod: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const selected = Object.entries(pod.spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const hasAffinity =
    !required ||
    required.nodeSelectorTerms.some(
      (term) =>
        (term.matchExpressions ?? []).every((requirement) => meets(requirement, labels)) &&
        (term.matchFields ?? []).every((requirement) => meets(requirement, { 'metadata.name': node.metadata.name! })),
    );
  return selected && hasAffinity;
}

function whyNot(pod: Pod, node: Node): string | undefined {
  if (!matchesNodeSelection(pod, node)) {
    return "didn't match Pod's node affinity/selector";
  }
  const tolerations = pod.spec.tolerations ?? [];
  const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
  if (node.spec.unschedulable && !tolerates(tolerations, cordon)) {
    return 'were unschedulable';
  }
  const taint = (node.spec.taints ?? []).find(
    (each) => each.effect !== 'PreferNoSchedule' && !tolerates(tolerations, each),
  );
  return taint ? `had untolerated taint {${taint.key}: ${taint.value ?? ''}}` : undefined;
}

/** The node with the fewest pods that takes this one, or the sentence why there is none. */
export function chooseNode(
  pod: Pod,
  nodes: readonly Node[],
  podsPerNode: ReadonlyMap<string, number>,
): { node: Node } | { refusal: string } {
  const fitting = nodes.filter((node) => fitsNode(pod, node));
  const load = (node: Node) => podsPerNode.get(node.metadata.name!) ?? 0;
  const [best] = [...fitting].sort((a, b) => load(a) - load(b) || a.metadata.name!.localeCompare(b.metadata.name!));
  if (best) {
    return { node: best };
  }
  const reasons = new Map<string, number>();
  for (const node of nodes) {
    const reason = whyNot(pod, node)!;
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const list = [...reasons].map(([reason, count]) => `${count} node(s) ${reason}`).join(', ');
  return {
    refusal:
      nodes.length === 0 ? 'no nodes available to schedule pods' : `0/${nodes.length} nodes are available: ${list}.`,
  };
}
