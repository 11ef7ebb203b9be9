import { parseArgs } from 'node:util';
import { startReferenceCluster } from './start-reference-cluster.ts';

const usage = `usage: up.ts [--controllers] [--nodes N] [--service-account-admission]
Runs a reference cluster until it is interrupted.`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      controllers: { type: 'boolean', default: false },
      nodes: { type: 'string', default: '0' },
      'service-account-admission': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const nodes = Number(values.nodes);
  if (!Number.isInteger(nodes) || nodes < 0) throw new Error(`--nodes takes a whole number, not ${values.nodes}`);
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await using cluster = await startReferenceCluster({
    controllers: values.controllers,
    simulateNodes: nodes,
    serviceAccountAdmission: values['service-account-admission'],
    log: (line) => console.log(line),
  });
  console.log(`export KUBECONFIG=${cluster.kubeconfigPath}`);
  console.log(`kubectl: ${cluster.binaries.kubectl}`);
  console.log(`logs: ${cluster.dir}/*.log`);
  // Without this, nothing keeps the process alive: the children and the guard do not.
  const alive = setInterval(() => {}, 60_000);
  await interrupted;
  clearInterval(alive);
}

await main();
