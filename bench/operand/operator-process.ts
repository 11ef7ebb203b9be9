/** The Operand operator as a process: `operator-process --kubeconfig F`. SIGUSR2 collects garbage. */
import { parseArgs } from 'node:util';

import { findConnection } from '@slipway/kube';
import { operandOperator } from '@slipway/operand';
import { createLogger, startManager } from '@slipway/runtime';

const { values } = parseArgs({ options: { kubeconfig: { type: 'string' } } });
const manager = await startManager({
  controllers: operandOperator.controllers({ flags: {}, env: {} }),
  cluster: { connection: await findConnection({ file: values.kubeconfig! }) },
  log: createLogger({ level: 'error' }),
  signals: true,
});
process.on('SIGUSR2', () => globalThis.gc?.());
await manager.ready;
process.stdout.write('{"event":"ready"}\n');
await manager.stopped;
