import type { AdminClient } from './admin-client.ts';
import { fittingNodes, type Pod, type SimulatedNode } from './pod-lifecycle.ts';

const strategicMergePatch = { 'content-type': 'application/strategic-merge-patch+json' };

/** Binds pods to the nodes they fit on, one after the other in turn; says of others that they fit nowhere. */
export class PodScheduler {
  readonly #admin: AdminClient;
  readonly #nodes: readonly SimulatedNode[];
  readonly #signal: AbortSignal;
  #bound = 0;

  constructor(admin: AdminClient, nodes: readonly SimulatedNode[], signal: AbortSignal) {
    this.#admin = admin;
    this.#nodes = nodes;
    this.#signal = signal;
  }

  async schedule(pod: Pod): Promise<void> {
    const fitting = fittingNodes(pod, this.#nodes);
    const node = fitting[this.#bound++ % fitting.length];
    if (node) await this.#bind(pod, node);
    else await this.#reportUnschedulable(pod);
  }

  async #bind({ metadata }: Pod, node: SimulatedNode): Promise<void> {
    await this.#admin.call('POST', `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/binding`, {
      body: {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: metadata.name, uid: metadata.uid },
        target: { apiVersion: 'v1', kind: 'Node', name: node.name },
      },
      signal: this.#signal,
    });
  }

  async #reportUnschedulable({ metadata }: Pod): Promise<void> {
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: `0/${this.#nodes.length} nodes are available: the pod's node selector or affinity matches none of them.`,
    };
    const body = { metadata: { uid: metadata.uid }, status: { conditions: [condition] } };
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/status`;
    await this.#admin.call('PATCH', path, { headers: strategicMergePatch, body, signal: this.#signal });
  }
}
