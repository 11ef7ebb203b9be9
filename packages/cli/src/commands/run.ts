import { startManager, createLogger, type OperatorDescription } from '@slipway/runtime';

import { connectCluster, type ConnectionFlags } from '../connect-command.ts';
import { chooseOperators } from '../operators.ts';
import { operatorSettings, type SettingsSource } from '../settings.ts';
import { aborted } from './cluster.ts';
import type { CommandContext } from './context.ts';
import { installCrds, requireCrds } from './crds.ts';

export interface RunFlags extends ConnectionFlags {
  readonly installCrds?: boolean;
  readonly leaderElect?: boolean;
  readonly leaderElectionNamespace?: string;
  readonly healthPort?: string;
  readonly metricsPort?: string;
  readonly logLevel?: string;
  readonly verbose?: boolean;
  /** Values of operator flags by name. */
  readonly operatorFlags: Readonly<Record<string, string | undefined>>;
}

/** `slipway run`: operators against any cluster, also in a pod, until they are told to stop. */
export async function runCommand(
  { terminal, operators }: CommandContext,
  names: readonly string[],
  flags: RunFlags,
  config: SettingsSource,
): Promise<void> {
  const chosen = chooseOperators(operators, names);
  await using cluster = await connectCluster(terminal, flags);
  const log = createLogger({ level: (flags.logLevel ?? 'info') as 'info', clock: terminal.clock });
  const settings = operatorSettings(chosen, { flags: flags.operatorFlags, env: terminal.env, config });
  log.info('starting', { cluster: cluster.origin, operators: chosen.map((operator) => operator.name) });
  if (flags.verbose) for (const setting of settings.origins) log.info('setting', setting);
  if (flags.installCrds) await installCrds(cluster.client, chosen, terminal.signal);
  await requireCrds(cluster.client, chosen, terminal.signal);
  await using manager = await startManager({
    name: 'slipway',
    cluster: { transport: cluster.transport, namespace: flags.leaderElectionNamespace ?? cluster.namespace },
    controllers: chosen.flatMap((operator: OperatorDescription) => operator.controllers(settings)),
    leaderElection: flags.leaderElect ?? false,
    health: flags.healthPort === undefined ? false : { port: Number(flags.healthPort), host: '0.0.0.0' },
    metrics: flags.metricsPort === undefined ? false : { port: Number(flags.metricsPort), host: '0.0.0.0' },
    log,
    clock: terminal.clock,
    random: terminal.random,
    signal: terminal.signal,
  });
  await Promise.race([manager.stopped, aborted(terminal.signal)]);
}
