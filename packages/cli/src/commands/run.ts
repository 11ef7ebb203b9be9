import { type Client, CommandError, exitCodes } from '@slipway/kube';
import {
  createLogger,
  startManager,
  type Manager,
  type OperatorDescription,
  type ServerAddress,
  type WebhookOptions,
} from '@slipway/runtime';

import { controllersOf } from '../operators.ts';
import { allows } from '../permissions.ts';
import { managerName, webhookAddress, webhooksAt, webhooksOf } from '../webhooks.ts';
import { aborted } from './aborted.ts';
import { installCrds, requireCrds } from '../crds.ts';
import { runFlags } from '../run-flags.ts';
import { slipwayCommand, type PackageFlag, type SlipwayContext } from '../slipway-command.ts';

/** `slipway run`: operators against any cluster, also in a pod, until they are told to stop. */
export const command = slipwayCommand({
  connection: true,
  takesOperators: true,
  operatorFlags: 'settings',
  flags: runFlags,
  examples: [
    { line: 'slipway run --install-crds' },
    { line: 'slipway run operand --leader-elect --health-port 8081 --metrics-port 8080' },
  ],
  run,
});

async function run({ terminal, version, flags, verbose, ...context }: SlipwayContext<typeof runFlags>): Promise<void> {
  const { operators, settingsOf, inForce } = await context.choice();
  const log = createLogger({
    level: flags['log-level'],
    format: flags['log-format'] ?? 'auto',
    destination: { write: (line: string) => terminal.err(line), isTTY: terminal.interactive },
    clock: terminal.clock,
  });
  const { packageFlag } = context;
  const controllers = operators.flatMap((operator) => controllersOf(operator, settingsOf(operator), packageFlag));
  for (const operator of operators) {
    const obstacle = operator.obstacle?.(settingsOf(operator));
    if (obstacle === undefined) continue;
    if (operators.length === 1) throw new CommandError(`${operator.name}: ${obstacle}`);
    log.error('an operator cannot do its work', { operator: operator.name, obstacle });
  }
  await using cluster = await context.connect();
  log.info('starting', { version, cluster: cluster.origin, operators: operators.map((operator) => operator.name) });
  if (verbose) for (const setting of inForce) log.info('setting', { ...setting });
  if (flags['install-crds']) await installCrds(cluster.client, operators, terminal);
  // Both at a time, but what is not installed is said first: nobody can be allowed to list it.
  const permissions = requirePermissions(cluster.client, operators, packageFlag, terminal.signal);
  permissions.catch(() => undefined);
  await requireCrds(cluster.client, operators, packageFlag, terminal.signal);
  await permissions;
  const webhooks = servedWebhooks(operators, flags, cluster.namespace);
  await using manager = await listening(
    startManager({
      name: 'slipway',
      cluster: {
        transport: cluster.transport,
        openTransport: () => cluster.openTransport(),
        namespace: flags['leader-election-namespace'] ?? cluster.namespace,
      },
      controllers,
      leaderElection: flags['leader-elect'] && { name: managerName(operators) },
      ...(webhooks ? { webhooks } : {}),
      health: listenOn(flags['health-port'], flags['bind-address']),
      metrics: withToken(listenOn(flags['metrics-port'], flags['bind-address']), flags['metrics-require-token']),
      log,
      clock: terminal.clock,
      random: terminal.random,
      signal: terminal.signal,
      lastResort: true,
    }),
  );
  manager.ready.then(
    () => log.info('ready', { ports: manager.ports }),
    () => undefined,
  );
  await Promise.race([manager.stopped, aborted(terminal.signal)]);
  await manager.stop();
}

function servedWebhooks(
  operators: readonly OperatorDescription[],
  flags: SlipwayContext<typeof runFlags>['flags'],
  namespace: string,
): WebhookOptions | undefined {
  if (webhooksOf(operators).length === 0) return undefined;
  return webhooksAt(operators, {
    address: webhookAddress(operators, flags, namespace),
    port: flags['webhook-port'],
    namespace,
  });
}

function listenOn(port: number | undefined, host: string | undefined): ServerAddress | false {
  return port !== undefined && { port, ...(host === undefined ? {} : { host }) };
}

function withToken(
  metrics: ServerAddress | false,
  requireToken: boolean,
): (ServerAddress & { requireToken: boolean }) | false {
  return metrics && { ...metrics, requireToken };
}

const anotherPort = 'choose another port with --health-port N or --metrics-port N; 0 takes any free one';
const anotherAddress = 'give --bind-address an address of this machine, such as 127.0.0.1';

/** What to do when a server cannot listen, by the code of the reason. */
const listenHints: Readonly<Record<string, string>> = {
  EADDRINUSE: anotherPort,
  EACCES: anotherPort,
  EADDRNOTAVAIL: anotherAddress,
  EAI_AGAIN: anotherAddress,
  EINVAL: anotherAddress,
  ENOTFOUND: anotherAddress,
};

async function listening(starting: Promise<Manager>): Promise<Manager> {
  try {
    return await starting;
  } catch (error) {
    const { cause } = error as { cause?: { code?: unknown } };
    const hint = listenHints[String(cause?.code)];
    if (hint === undefined) throw error;
    throw new CommandError((error as Error).message, { hint, cause: error });
  }
}

/**
 * A manager without rights would try for ever; better to say at once what is missing. A kind the operator's own role does not
 * let it watch is one it only brings.
 */
async function requirePermissions(
  client: Client,
  operators: readonly OperatorDescription[],
  packageFlag: PackageFlag,
  signal: AbortSignal,
): Promise<void> {
  const checks = operators.flatMap((operator) =>
    operator.kinds.flatMap((kind) => {
      const verbs = ['list', 'watch'].filter((verb) => allows(operator.permissions, verb, kind));
      return verbs.map(async (verb) => {
        const { allowed } = await client.canI({ verb, group: kind.group, resource: kind.plural }, { signal });
        return { allowed, operator, text: `${verb} ${kind.plural}.${kind.group}` };
      });
    }),
  );
  const denied = (await Promise.all(checks)).filter(({ allowed }) => !allowed);
  if (denied.length === 0) return;
  const lacking = [...new Set(denied.map(({ operator }) => operator))];
  const named = [...lacking.map(({ name }) => ` ${name}`), ...lacking.map(packageFlag)].join('');
  throw new CommandError(`not allowed to ${denied.map(({ text }) => text).join(', ')}`, {
    hint: `grant what is needed: slipway rbac${named} | kubectl apply -f -`,
    exitCode: exitCodes.notAllowed,
  });
}
