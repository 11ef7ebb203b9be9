/** The embedded server and its load in one process, without sockets: how tests use it. Says one JSON line. */
import { runLoad, type LoadPlan } from './load.ts';

const plan = JSON.parse(process.argv[2]!) as LoadPlan;
const imported = performance.now();
const { startCluster } = await import('@slipway/apiserver');
const importMs = performance.now() - imported;

const startsMs: number[] = [];
for (let i = 0; i < 11; i += 1) {
  const begin = performance.now();
  const cluster = await startCluster();
  startsMs.push(performance.now() - begin);
  await cluster.stop();
}

await using cluster = await startCluster();
const results = await runLoad(
  { send: (request) => cluster.transport.send(request), open: () => () => undefined },
  plan,
);
process.stdout.write(`${JSON.stringify({ event: 'done', importMs, startsMs, results })}\n`);
