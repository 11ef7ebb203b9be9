import { startCluster, type ClusterOptions } from '../../src/index.ts';

/** A cluster in a process of its own, to see whether an attack ends it. */
const options = JSON.parse(process.argv[2] ?? '{}') as ClusterOptions;
const cluster = await startCluster({ port: 0, controllers: 'none', ...options });
process.stdout.write(`${JSON.stringify({ url: cluster.url })}\n`);
// Whoever started it holds the other end.
process.stdin.resume().on('end', () => void cluster.stop());
