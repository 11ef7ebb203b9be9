import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { startCluster } from '../../src/index.ts';
import type { InProcessRequest } from '../../src/in-process.ts';
import { referenceTarget } from '../differential/targets.ts';
import type { Swept } from './sweep.ts';

type Running = Swept & AsyncDisposable;

/** The embedded server without sockets: thousands of requests take a second. */
export async function embeddedServer(): Promise<Running> {
  const cluster = await startCluster({ controllers: 'none' });
  return {
    async send(request) {
      const { status, body } = await cluster.transport.send(request as InProcessRequest);
      return { status, text: body.toString() };
    },
    settle: () => turn(),
    patience: 3,
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}

export async function realServer(): Promise<Running> {
  const running = await referenceTarget({ name: 'options', cases: [] });
  return {
    send: (request) => running.target.send(request),
    settle: () => wait(50),
    patience: 100,
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}
