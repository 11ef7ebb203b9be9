import type { AdminClient } from './admin-client.ts';
import type { SimulatedNode } from './pod-lifecycle.ts';

const mergePatch = { 'content-type': 'application/merge-patch+json' };

/** Creates a node that is ready; `because` says in its condition what a reader should know. */
export async function registerNode(
  admin: AdminClient,
  node: SimulatedNode,
  because: { reason: string; message: string },
): Promise<void> {
  await admin.call('POST', '/api/v1/nodes', {
    body: { apiVersion: 'v1', kind: 'Node', metadata: { name: node.name, labels: node.labels } },
  });
  const path = `/api/v1/nodes/${node.name}`;
  // Admission taints a new node as not ready; the controller that takes this away does not run here.
  await admin.call('PATCH', path, { headers: mergePatch, body: { spec: { taints: null } } });
  const resources = { cpu: '64', memory: '256Gi', pods: '1000', 'ephemeral-storage': '1Ti' };
  const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  await admin.call('PATCH', `${path}/status`, {
    headers: mergePatch,
    body: {
      status: {
        capacity: resources,
        allocatable: resources,
        addresses: [
          { type: 'InternalIP', address: node.address },
          { type: 'Hostname', address: node.name },
        ],
        conditions: [{ type: 'Ready', status: 'True', ...because, lastHeartbeatTime: at, lastTransitionTime: at }],
      },
    },
  });
}
