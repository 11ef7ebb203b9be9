import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startReferenceCluster } from '@slipway/reference-cluster';
import { expect, it } from 'vitest';
import { startCluster } from '../../src/index.ts';
import { kubectlTranscript, type Spoken } from './kubectl-transcript.ts';
import { clientLane, live } from './lane.ts';

const lane = await clientLane('kubectl against the embedded server', ['kubectl', 'kube-controller-manager']);

it.runIf('binaries' in lane)(
  'kubectl says to the embedded server what it says to a real one',
  { timeout: 600_000 },
  async () => {
    if (!('binaries' in lane)) return;
    const { binaries } = lane;
    await using cluster = await startCluster({ port: 0, tls: true, authorization: 'RBAC', controllers: 'workloads' });
    const spoken = await kubectlTranscript(binaries.kubectl, cluster.kubeconfig);
    expect(spoken).toEqual(await expected());

    async function expected(): Promise<Spoken[]> {
      if (live) {
        await using reference = await startReferenceCluster({ binaries, controllers: true, simulateNodes: 1 });
        return await kubectlTranscript(binaries.kubectl, reference.kubeconfig);
      }
      const path = join(import.meta.dirname, '..', 'goldens', 'kubectl.json');
      return JSON.parse(await readFile(path, 'utf8')) as Spoken[];
    }
  },
);
