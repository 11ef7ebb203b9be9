import { startCluster } from '../../src/index.ts';

/** A cluster in a process of its own, to be killed. */
const [dataDir = '', port = '0'] = process.argv.slice(2);
const cluster = await startCluster({ dataDir, port: Number(port), controllers: 'none' });
process.stdout.write(`${JSON.stringify({ url: cluster.url, revision: cluster.revision })}\n`);
// Whoever started it holds the other end.
process.stdin.resume().on('end', () => void cluster.stop());
