/** The control plane operator as a process: `operator-process --kubeconfig F`. The control plane is the one of the Secret default/target. */
import { parseArgs } from 'node:util';

import { controlPlaneOperator } from '@slipway/control-plane';
import { findConnection } from '@slipway/kube';
import { createLogger, startManager } from '@slipway/runtime';

const { values } = parseArgs({ options: { kubeconfig: { type: 'string' } } });
const flags = { provider: 'existing', 'existing-secret': 'default/target' };
const manager = await startManager({
  controllers: controlPlaneOperator.controllers({ flags, env: {} }),
  cluster: { connection: await findConnection({ file: values.kubeconfig! }) },
  log: createLogger({ level: 'error' }),
  signals: true,
});
await manager.ready;
process.stdout.write('{"event":"ready"}\n');
await manager.stopped;
