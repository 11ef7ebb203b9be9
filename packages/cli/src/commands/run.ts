import type { Client } from '@slipway/kube';
import { createLogger, startManager, type LogLevel, type Manager, type OperatorDescription } from '@slipway/runtime';

import { CliError, exitCodes } from '../cli-error.ts';
import { connectCluster, type ConnectionFlags } from '../connect-command.ts';
import { controllersOf } from '../operators.ts';
import { aborted } from './aborted.ts';
import type { CommandContext, OperatorChoice } from './context.ts';
import { installCrds, requireCrds } from './crds.ts';

export interface RunFlags extends ConnectionFlags {
  readonly installCrds?: boolean;
  readonly leaderElect?: boolean;
  readonly leaderElectionNamespace?: string;
  readonly healthPort?: number;
  readonly metricsPort?: number;
  readonly logLevel?: LogLevel;
  readonly verbose?: boolean;
}

/** `slipway run`: operators against any cluster, also in a pod, until they are told to stop. */
export async function runCommand(
  { terminal, version }: CommandContext,
  { operators, settings, inForce }: OperatorChoice,
  flags: RunFlags,
): Promise<void> {
  const log = createLogger({
    level: flags.logLevel ?? 'info',
    destination: { write: (line: string) => terminal.err(line), isTTY: terminal.interactive },
    clock: terminal.clock,
  });
  const controllers = operators.flatMap((operator) => controllersOf(operator, settings));
  await using cluster = await connectCluster(terminal, flags);
  log.info('starting', { version, cluster: cluster.origin, operators: operators.map((operator) => operator.name) });
  if (flags.verbose) for (const setting of inForce) log.info('setting', { ...setting });
  if (flags.installCrds) await installCrds(cluster.client, operators, terminal);
  // Both at a time, but what is not installed is said first: nobody can be allowed to list it.
  const permissions = requirePermissions(cluster.client, operators, terminal.signal);
  permissions.catch(() => undefined);
  await requireCrds(cluster.client, operators, terminal.signal);
  await permissions;
  await using manager = await listening(
    startManager({
      name: 'slipway',
      cluster: {
        transport: cluster.transport,
        openTransport: () => cluster.openTransport(),
        namespace: flags.leaderElectionNamespace ?? cluster.namespace,
      },
      controllers,
      leaderElection: flags.leaderElect ?? false,
      health: flags.healthPort === undefined ? false : { port: flags.healthPort },
      metrics: flags.metricsPort === undefined ? false : { port: flags.metricsPort },
      log,
      clock: terminal.clock,
      random: terminal.random,
      signal: terminal.signal,
    }),
  );
  manager.ready.then(
    () => log.info('ready', { ports: manager.ports }),
    () => undefined,
  );
  await Promise.race([manager.stopped, aborted(terminal.signal)]);
  await manager.stop();
}

async function listening(starting: Promise<Manager>): Promise<Manager> {
  try {
    return await starting;
  } catch (error) {
    const { cause } = error as { cause?: { code?: unknown } };
    if (cause?.code !== 'EADDRINUSE' && cause?.code !== 'EACCES') throw error;
    throw new CliError((error as Error).message, {
      hint: 'choose another port with --health-port N or --metrics-port N; 0 takes any free one',
      cause: error,
    });
  }
}

/** A manager without rights would try for ever; better to say at once what is missing. */
async function requirePermissions(
  client: Client,
  operators: readonly OperatorDescription[],
  signal: AbortSignal,
): Promise<void> {
  const checks = operators.flatMap((operator) =>
    operator.kinds.flatMap((kind) =>
      ['list', 'watch'].map(async (verb) => {
        const { allowed } = await client.canI({ verb, group: kind.group, resource: kind.plural }, { signal });
        return { allowed, operator: operator.name, text: `${verb} ${kind.plural}.${kind.group}` };
      }),
    ),
  );
  const denied = (await Promise.all(checks)).filter(({ allowed }) => !allowed);
  if (denied.length === 0) return;
  const lacking = [...new Set(denied.map(({ operator }) => operator))];
  throw new CliError(`not allowed to ${denied.map(({ text }) => text).join(', ')}`, {
    hint: `grant what is needed: slipway rbac ${lacking.join(' ')} | kubectl apply -f -`,
    exitCode: exitCodes.notAllowed,
  });
}
