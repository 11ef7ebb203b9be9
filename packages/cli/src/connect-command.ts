import { resolve } from 'node:path';
import {
  CommandError,
  connect,
  exitCodes,
  findConnection,
  isForbidden,
  isUnauthorized,
  KubeError,
  loadKubeConfig,
  NoConfigError,
  type KubeConfigOptions,
  type Connection,
  type Terminal,
  type ConnectedCluster,
} from '@slipway/kube';

import { refusedCredentialsHint } from './refused-credentials.ts';
import { connectionBeside } from './running-clusters.ts';

export interface ConnectionFlags {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** The cluster a command works on: `--kubeconfig`, `$KUBECONFIG`, the default file, or the pod's own. Fails at once when it does not answer. */
export async function connectCluster(terminal: Terminal, flags: ConnectionFlags): Promise<ConnectedCluster> {
  const connection = await chosenConnection(terminal, flags);
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
    context: connection.context,
    openTransport: () => cluster.openTransport(),
    [Symbol.asyncDispose]: () => cluster.close(),
  };
}

/** The cluster that is told; without one told or in the usual place, the one of a `slipway up` that runs beside. */
async function chosenConnection(terminal: Terminal, { kubeconfig, context }: ConnectionFlags): Promise<Connection> {
  try {
    return await findConnection({ ...placesOf(terminal, kubeconfig), ...(context ? { context } : {}) });
  } catch (error) {
    const beside = error instanceof NoConfigError && !context ? await connectionBeside(terminal) : undefined;
    if (beside) return beside;
    throw new NoConnection(firstLine(error), error, context);
  }
}

/** The contexts there are to choose from. */
export async function contextNames(terminal: Terminal, kubeconfig: string | undefined): Promise<readonly string[]> {
  return (await loadKubeConfig(placesOf(terminal, kubeconfig))).contexts;
}

/** Where the kubeconfig is looked for. */
function placesOf({ cwd, env }: Terminal, kubeconfig: string | undefined): KubeConfigOptions {
  return {
    ...(kubeconfig ? { file: resolve(cwd, kubeconfig) } : {}),
    ...(env['HOME'] ? { homeDirectory: env['HOME'] } : {}),
    env,
  };
}

/** Nothing says which cluster to use, or what says so cannot be read. */
export class NoConnection extends CommandError {
  /** Nobody said anything, in no place. */
  readonly isAbsent: boolean;

  constructor(message: string, cause: unknown, context: string | undefined) {
    const isAbsent = cause instanceof NoConfigError;
    super(message, {
      hint:
        context === undefined || isAbsent
          ? 'name a kubeconfig with --kubeconfig FILE, or try `slipway up` for a cluster of your own'
          : 'choose another with --context NAME, or another kubeconfig with --kubeconfig FILE',
      exitCode: exitCodes.unreachable,
      cause,
    });
    this.name = 'NoConnection';
    this.isAbsent = isAbsent;
  }
}

function unreachable(error: unknown, server: string): CommandError {
  if (isUnauthorized(error))
    return new CommandError(`${server} does not accept these credentials`, {
      hint: refusedCredentialsHint,
      exitCode: exitCodes.notAllowed,
      cause: error,
    });
  if (isForbidden(error)) return new CommandError(firstLine(error), { exitCode: exitCodes.notAllowed, cause: error });
  // What the client says names the server already.
  const said = error instanceof KubeError ? firstLine(error) : `no answer from ${server}: ${firstLine(error)}`;
  return new CommandError(said, {
    hint: 'is the cluster running, and is this the right context?',
    exitCode: exitCodes.unreachable,
    cause: error,
  });
}

function firstLine(error: unknown): string {
  const message = error instanceof KubeError || error instanceof Error ? error.message : String(error);
  return message.split('\n')[0]!;
}
