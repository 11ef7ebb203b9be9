/** An embedded cluster as a process of its own, so that neither side shares its time: prints where it listens, ends with its input. */
import { startCluster } from '../../packages/apiserver/src/index.ts';

const cluster = await startCluster({ port: 0, controllers: 'core' });
process.stdout.write(`${JSON.stringify({ kubeconfig: cluster.kubeconfig })}\n`);
process.stdin.resume();
process.stdin.once('end', () => void cluster.stop().then(() => process.exit(0)));
