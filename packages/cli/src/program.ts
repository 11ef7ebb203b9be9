import { Command, CommanderError, Option } from 'commander';

import { CliError, exitCodes } from './cli-error.ts';
import { clusterCommand } from './commands/cluster.ts';
import type { CommandContext } from './commands/context.ts';
import { crdsCommand } from './commands/crds.ts';
import { explainCommand } from './commands/explain.ts';
import { planCommand } from './commands/plan.ts';
import { rbacCommand } from './commands/rbac.ts';
import { runCommand, type RunFlags } from './commands/run.ts';
import { statusCommand } from './commands/status.ts';
import { upCommand } from './commands/up.ts';
import { environmentName } from './settings.ts';

/** Runs one command line and returns the exit code. Errors become one line, with a second that says what to do. */
export async function runSlipway(argv: readonly string[], context: CommandContext): Promise<number> {
  const { terminal } = context;
  try {
    await program(context).parseAsync(argv, { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (terminal.signal.aborted) return exitCodes.interrupted;
    if (error instanceof CliError) {
      terminal.err(`slipway: ${error.message}\n${error.hint ? `  ${error.hint}\n` : ''}`);
      return error.exitCode;
    }
    terminal.err(`slipway: ${error instanceof Error ? error.message : String(error)}\n`);
    if (argv.includes('--verbose') && error instanceof Error) terminal.err(`${error.stack}\n`);
    else terminal.err('  run again with --verbose for more\n');
    return exitCodes.failed;
  }
}

function program(context: CommandContext): Command {
  const { terminal, operators } = context;
  const known = operators.map((operator) => operator.name).join(', ');
  const slipway = new Command('slipway')
    .description('Installs platform software on Kubernetes, keeps it right, upgrades it and removes it cleanly.')
    .version(context.version, '--version', 'print the version')
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.err(text),
      getOutHelpWidth: () => terminal.columns(),
      getErrHelpWidth: () => terminal.columns(),
    })
    .exitOverride()
    .showHelpAfterError('(slipway --help shows all commands)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ slipway up                       everything on a cluster of its own, nothing to install\n  $ slipway run operand --install-crds   one operator on the cluster of your kubeconfig\n  $ slipway status -w                what it manages, live',
    );

  const connection = (command: Command): Command =>
    command
      .option('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, in-cluster, ~/.kube/config)')
      .option('--context <name>', 'context of the kubeconfig')
      .option('--verbose', 'say more');
  const output = () =>
    new Option('-o, --output <format>', 'output format')
      .choices(['table', 'wide', 'json', 'yaml', 'name'])
      .default('table');

  slipway
    .command('up')
    .description('embedded cluster, operators and an example of each, until Ctrl-C')
    .argument('[operator...]', `which operators (default: all of ${known})`)
    .option('--port <number>', 'port of the API server (default: 16443, or a free one when that is taken)')
    .option('--data <dir>', 'keep the cluster here (default: in memory)')
    .option('--kubeconfig <file>', 'where to write the kubeconfig')
    .option('--verbose', 'say more')
    .addHelpText('after', '\nExamples:\n  $ slipway up\n  $ slipway up operand --data ./cluster --port 0')
    .action(async (names: string[], flags) => await upCommand(context, names, flags));

  slipway
    .command('cluster')
    .description('the embedded API server alone, until Ctrl-C')
    .option('--port <number>', 'port of the API server (default: 16443, or a free one when that is taken)')
    .option('--data <dir>', 'keep the cluster here (default: in memory)')
    .option('--kubeconfig <file>', 'where to write the kubeconfig')
    .option('--verbose', 'say more')
    .addHelpText('after', '\nExample:\n  $ slipway cluster --port 0 --kubeconfig ./kubeconfig')
    .action(async (flags) => await clusterCommand(context, flags));

  const run = connection(slipway.command('run'))
    .description('operators against any cluster, also in a pod')
    .argument('[operator...]', `which operators (default: all of ${known})`)
    .option('--install-crds', 'apply the CRDs first')
    .option('--leader-elect', 'run only while holding the lease')
    .option('--leader-election-namespace <name>', 'namespace of the lease (default: the one of the context or pod)')
    .option('--health-port <number>', 'serve /healthz and /readyz (default: off)')
    .option('--metrics-port <number>', 'serve /metrics (default: off)')
    .addOption(
      new Option('--log-level <level>', 'least level that is logged')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ slipway run --install-crds\n  $ slipway run operand --leader-elect --health-port 8081 --metrics-port 8080',
    );
  for (const flag of operators.flatMap((operator) => operator.flags ?? [])) {
    run.option(
      `--${flag.name} <${flag.type}>`,
      `${flag.description} (${environmentName(flag)}${flag.default ? `, default ${flag.default}` : ''})`,
    );
  }
  run.action(async (names: string[], flags: Record<string, string | undefined>) => {
    const operatorFlags = Object.fromEntries(
      operators.flatMap((operator) => operator.flags ?? []).map((flag) => [flag.name, flags[camel(flag.name)]]),
    );
    await runCommand(context, names, { ...(flags as unknown as RunFlags), operatorFlags }, {});
  });

  connection(slipway.command('status'))
    .description('what each operator manages, its state, since when, what it waits for')
    .option('-w, --watch', 'keep showing it')
    .addOption(output())
    .action(async (flags) => await statusCommand(context, flags));

  connection(slipway.command('plan'))
    .description('what applying this Operand or these objects would change')
    .requiredOption('-f, --file <file>', 'YAML or JSON')
    .addOption(output())
    .action(async (flags) => await planCommand(context, flags));

  slipway
    .command('crds')
    .description('the CRDs as YAML')
    .argument('[operator...]', `which operators (default: all of ${known})`)
    .option('--write <dir>', 'write one file each instead')
    .action(async (names: string[], flags) => await crdsCommand(context, names, flags));

  slipway
    .command('rbac')
    .description('the exact permissions as YAML')
    .argument('[operator...]', `which operators (default: all of ${known})`)
    .option('--namespace <name>', 'namespace of the ServiceAccount (default: slipway-system)')
    .action((names: string[], flags) => rbacCommand(context, names, flags));

  slipway
    .command('explain')
    .description('what a condition reason means and what to do')
    .argument('<reason>', 'such as Waiting or MissingSecret')
    .action((reason: string) => explainCommand(context, reason));

  slipway
    .command('version')
    .description('print the version')
    .action(() => terminal.out(`${context.version}\n`));
  return slipway;
}

function camel(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}
