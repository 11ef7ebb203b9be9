import { AdminClient } from './admin-client.ts';
import { follow } from './follow.ts';
import { ObjectSteps } from './object-steps.ts';
import { awaitsScheduling, type Pod, settledStatus, type SimulatedNode } from './pod-lifecycle.ts';
import { registerNode } from './register-node.ts';
import { PodScheduler } from './schedule-pod.ts';
import { simulateVolumes } from './volume-simulator.ts';

export interface NodeSimulatorOptions {
  admin: AdminClient;
  /** How many nodes to create. */
  count: number;
  /** Receives a line when something could not be done. Default: nowhere. */
  log?: (line: string) => void;
}

const strategicMergePatch = { 'content-type': 'application/strategic-merge-patch+json' };

/**
 * Stands in for scheduler and kubelets: creates Ready nodes, binds pods to them, reports what they run as running (or as
 * succeeded, where it ends by itself), removes pods that are being deleted, and gives claims a volume. Nothing is executed.
 */
export async function simulateNodes({ admin, count, log }: NodeSimulatorOptions): Promise<AsyncDisposable> {
  const nodes = Array.from({ length: count }, (_, index) => simulatedNode(index));
  const because = { reason: 'Simulated', message: 'nothing runs here' };
  for (const node of nodes) await registerNode(admin, node, because);

  const stopping = new AbortController();
  const { signal } = stopping;
  const steps = new ObjectSteps(signal, log);
  const scheduler = new PodScheduler(admin, nodes, signal);
  let addresses = 0;

  async function takeStep(pod: Pod): Promise<void> {
    const { metadata, spec, status } = pod;
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
    const preconditions = { uid: metadata.uid };
    if (awaitsScheduling(pod)) {
      await scheduler.schedule(pod);
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

function nextPodAddress(index: number): string {
  return `10.244.${Math.floor(index / 250) % 250}.${(index % 250) + 1}`;
}

/** A process of its own, so that pods go on while whoever started the cluster is busy or waits for a command. */
async function main([url, dir, count]: readonly string[]): Promise<void> {
  using admin = await AdminClient.fromFolder(url!, dir!);
  const stopped = new Promise((resolve) => {
    process.once('SIGTERM', resolve);
  });
  await using _simulator = await simulateNodes({ admin, count: Number(count), log: (line) => console.log(line) });
  await stopped;
}

if (import.meta.main) await main(process.argv.slice(2));
