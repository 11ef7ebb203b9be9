import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startReferenceCluster } from '@slipway/reference-cluster';
import { kubectlTranscript } from './kubectl-transcript.ts';

/** Records what kubectl says to the real server. */
await using cluster = await startReferenceCluster({ controllers: true, simulateNodes: 1 });
const spoken = await kubectlTranscript(cluster.binaries.kubectl, cluster.kubeconfig);
const lines = spoken.map((one) => JSON.stringify(one)).join(',\n');
await writeFile(join(import.meta.dirname, '..', 'goldens', 'kubectl.json'), `[\n${lines}\n]\n`);
process.stdout.write(`kubectl: ${spoken.length} commands\n`);
