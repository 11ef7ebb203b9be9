import {
  connect,
  findConnection,
  isForbidden,
  isUnauthorized,
  KubeError,
  type Client,
  type Transport,
} from '@slipway/kube';

import { CliError, exitCodes } from './cli-error.ts';
import type { Terminal } from './terminal.ts';

export interface ConnectionFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export interface ConnectedCluster extends AsyncDisposable {
  readonly client: Client;
  readonly transport: Transport;
  readonly namespace: string;
  /** Another transport, for what must not wait behind anything else. Closed with the cluster. */
  openTransport(): Transport;
  /** Where the configuration came from, for people. */
  readonly origin: string;
}

/** The cluster a command works on: `--kubeconfig`, `$KUBECONFIG`, the default file, or the pod's own. Fails at once when it does not answer. */
export async function connectCluster(terminal: Terminal, flags: ConnectionFlags): Promise<ConnectedCluster> {
  const connection = await findConnection({
    ...(flags.kubeconfig ? { file: flags.kubeconfig } : {}),
    ...(flags.context ? { context: flags.context } : {}),
    env: terminal.env,
  }).catch((error: unknown) => {
    throw new CliError(firstLine(error), {
      hint: 'name a kubeconfig with --kubeconfig FILE, or try `slipway up` for a cluster of your own',
      exitCode: exitCodes.unreachable,
      cause: error,
    });
  });
  const cluster = connect(connection, { fieldManager: 'slipway', clock: terminal.clock });
  try {
    await cluster.client.serverVersion({ signal: AbortSignal.any([terminal.signal, AbortSignal.timeout(10_000)]) });
  } catch (error) {
    await cluster.close();
    throw unreachable(error, connection.server);
  }
  return {
    client: cluster.client,
    transport: cluster.transport,
    namespace: connection.namespace ?? 'default',
    origin: connection.origin ?? connection.server,
    openTransport: () => cluster.openTransport(),
    [Symbol.asyncDispose]: () => cluster.close(),
  };
}

function unreachable(error: unknown, server: string): CliError {
  if (isUnauthorized(error))
    return new CliError(`${server} does not accept these credentials`, {
      hint: 'check the user of the kubeconfig context',
      exitCode: exitCodes.notAllowed,
      cause: error,
    });
  if (isForbidden(error)) return new CliError(firstLine(error), { exitCode: exitCodes.notAllowed, cause: error });
  return new CliError(`${server} does not answer: ${firstLine(error)}`, {
    hint: 'is the cluster running, and is this the right context?',
    exitCode: exitCodes.unreachable,
    cause: error,
  });
}

function firstLine(error: unknown): string {
  const message = error instanceof KubeError || error instanceof Error ? error.message : String(error);
  return message.split('\n')[0]!;
}
