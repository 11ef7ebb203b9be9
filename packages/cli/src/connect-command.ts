import {
  CommandError,
  connect,
  exitCodes,
  findConnection,
  isForbidden,
  isUnauthorized,
  KubeError,
  type Terminal,
  type ConnectedCluster,
} from '@slipway/kube';

export interface ConnectionFlags {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** The cluster a command works on: `--kubeconfig`, `$KUBECONFIG`, the default file, or the pod's own. Fails at once when it does not answer. */
export async function connectCluster(terminal: Terminal, flags: ConnectionFlags): Promise<ConnectedCluster> {
  const connection = await findConnection({
    ...(flags.kubeconfig ? { file: flags.kubeconfig } : {}),
    ...(flags.context ? { context: flags.context } : {}),
    env: terminal.env,
  }).catch((error: unknown) => {
    throw new CommandError(firstLine(error), {
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

function unreachable(error: unknown, server: string): CommandError {
  if (isUnauthorized(error))
    return new CommandError(`${server} does not accept these credentials`, {
      hint: 'check the user of the kubeconfig context',
      exitCode: exitCodes.notAllowed,
      cause: error,
    });
  if (isForbidden(error)) return new CommandError(firstLine(error), { exitCode: exitCodes.notAllowed, cause: error });
  return new CommandError(`${server} does not answer: ${firstLine(error)}`, {
    hint: 'is the cluster running, and is this the right context?',
    exitCode: exitCodes.unreachable,
    cause: error,
  });
}

function firstLine(error: unknown): string {
  const message = error instanceof KubeError || error instanceof Error ? error.message : String(error);
  return message.split('\n')[0]!;
}
