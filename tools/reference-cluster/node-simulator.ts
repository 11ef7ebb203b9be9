import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AdminClient } from './admin-client.ts';
import { follow } from './follow.ts';
import { ObjectSteps } from './object-steps.ts';
import { awaitsScheduling, fittingNodes, type Pod, settledStatus, type SimulatedNode } from './pod-lifecycle.ts';
import { simulateVolumes } from './volume-simulator.ts';

export interface NodeSimulatorOptions {
  admin: AdminClient;
  /** How many nodes to create. */
  count: number;
  /** Receives a line when something could not be done. Default: nowhere. */
  log?: (line: string) => void;
}

const mergePatch = { 'content-type': 'application/merge-patch+json' };
const strategicMergePatch = { 'content-type': 'application/strategic-merge-patch+json' };

/**
 * Stands in for scheduler and kubelets: creates Ready nodes, binds pods to them, reports what they run as running (or as
 * succeeded, where it ends by itself), removes pods that are being deleted, and gives claims a volume. Nothing is executed.
 */
export async function simulateNodes({ admin, count, log }: NodeSimulatorOptions): Promise<AsyncDisposable> {
  const nodes = Array.from({ length: count }, (_, index) => simulatedNode(index));
  for (const node of nodes) await createNode(admin, node);

  const stopping = new AbortController();
  const { signal } = stopping;
  const steps = new ObjectSteps(signal, log);
  let bound = 0;
  let addresses = 0;

  async function takeStep(pod: Pod): Promise<void> {
    const { metadata, spec, status } = pod;
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
    const preconditions = { uid: metadata.uid };
    if (awaitsScheduling(pod)) {
      const fitting = fittingNodes(pod, nodes);
      const node = fitting[bound++ % fitting.length];
      if (node) await bind(path, pod, node);
      else await reportUnschedulable(path, pod);
      return;
    }
    const node = nodes.find(({ name }) => name === spec.nodeName);
    if (!node) return;
    if (metadata.deletionTimestamp) {
      await admin.call('DELETE', path, { body: { gracePeriodSeconds: 0, preconditions }, signal });
    } else if (status?.phase === 'Pending') {
      const podAddress = nextPodAddress(addresses++);
      const body = { metadata: preconditions, status: settledStatus(pod, node, podAddress, new Date()) };
      await admin.call('PATCH', `${path}/status`, { headers: strategicMergePatch, body, signal });
    }
  }

  async function bind(path: string, { metadata }: Pod, node: SimulatedNode): Promise<void> {
    await admin.call('POST', `${path}/binding`, {
      body: {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: metadata.name, uid: metadata.uid },
        target: { apiVersion: 'v1', kind: 'Node', name: node.name },
      },
      signal,
    });
  }

  async function reportUnschedulable(path: string, { metadata }: Pod): Promise<void> {
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: `0/${nodes.length} nodes are available: the pod's node selector or affinity matches none of them.`,
    };
    const body = { metadata: { uid: metadata.uid }, status: { conditions: [condition] } };
    await admin.call('PATCH', `${path}/status`, { headers: strategicMergePatch, body, signal });
  }

  const options = { admin, signal, log };
  const following = [
    follow<Pod>('/api/v1/pods', (pod) => steps.run(pod.metadata.uid, () => takeStep(pod)), options),
    simulateVolumes(options),
  ];
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all(following);
      await steps[Symbol.asyncDispose]();
    },
  };
}

function simulatedNode(index: number): SimulatedNode {
  const name = `reference-node-${index + 1}`;
  return {
    name,
    address: `198.51.100.${(index % 250) + 1}`,
    labels: {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
    },
  };
}

async function createNode(admin: AdminClient, node: SimulatedNode): Promise<void> {
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
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            reason: 'Simulated',
            message: 'nothing runs here',
            lastHeartbeatTime: at,
            lastTransitionTime: at,
          },
        ],
      },
    },
  });
}

function nextPodAddress(index: number): string {
  return `10.244.${Math.floor(index / 250) % 250}.${(index % 250) + 1}`;
}

/** A process of its own, so that pods go on while whoever started the cluster is busy or waits for a command. */
async function main([url, dir, count]: readonly string[]): Promise<void> {
  const read = (name: string) => readFile(join(dir!, name), 'utf8');
  using admin = new AdminClient({
    url: url!,
    ca: await read('ca.crt'),
    adminCert: await read('admin.crt'),
    adminKey: await read('admin.key'),
  });
  const stopped = new Promise((resolve) => {
    process.once('SIGTERM', resolve);
  });
  await using _simulator = await simulateNodes({ admin, count: Number(count), log: (line) => console.log(line) });
  await stopped;
}

if (import.meta.main) await main(process.argv.slice(2));
