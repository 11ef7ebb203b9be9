import { isConnectionFailure, isForbidden, isUnauthorized } from '@slipway/kube';
import type { OperatorFlag } from '@slipway/runtime';
import { Argument, Command, CommanderError, Option } from 'commander';

import { CliError, exitCodes } from './cli-error.ts';
import { completionScript, shells, type Shell } from './completion.ts';
import type { CommandContext, OperatorChoice } from './commands/context.ts';
import { explainCommand } from './commands/explain.ts';
import { rbacCommand } from './commands/rbac.ts';
import { countValue, durationValue, operatorFlagValue, portValue } from './flag-values.ts';
import { chooseOperators } from './operators.ts';
import {
  environmentName,
  namedOperators,
  operatorSettings,
  operatorsKey,
  perCall,
  readSettingsFile,
  settableFlags,
  settle,
  type Setting,
  type SettingsSources,
} from './settings.ts';
import type { Terminal } from './terminal.ts';

/** Runs one command line and returns the exit code. Errors become one line, with a second that says what to do. */
export async function runSlipway(argv: readonly string[], context: CommandContext): Promise<number> {
  const { terminal } = context;
  try {
    await commandLine(context).parseAsync(argv, { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (terminal.signal.aborted) return exitCodes.interrupted;
    return report(error, terminal, argv.includes('--verbose'));
  }
}

function report(error: unknown, terminal: Terminal, verbose: boolean): number {
  const known = error instanceof CliError ? error : refusal(error);
  const { message } = known ?? (error instanceof Error ? error : new Error(String(error)));
  const hint = known ? known.hint : verbose ? undefined : 'run again with --verbose for more';
  terminal.err(`slipway: ${message}\n${hint ? `  ${hint}\n` : ''}`);
  if (verbose && error instanceof Error) terminal.err(`${error.stack}\n`);
  return known?.exitCode ?? exitCodes.failed;
}

/** What a cluster may answer to any command. */
function refusal(error: unknown): CliError | undefined {
  if (isForbidden(error) || isUnauthorized(error))
    return new CliError(error.message, {
      hint: 'the user of the kubeconfig context may not do this; `slipway rbac` prints what operators need',
      exitCode: exitCodes.notAllowed,
    });
  if (isConnectionFailure(error))
    return new CliError(error.message, {
      hint: 'the cluster went away while the command ran; run it again',
      exitCode: exitCodes.unreachable,
    });
  return undefined;
}

/** All commands and their flags. Commands load what they need when they are called: `slipway --help` does not wait for an API server to be read. */
export function commandLine(context: CommandContext): Command {
  const { terminal, operators } = context;
  const operatorFlags = operators.flatMap((operator) => operator.flags ?? []);
  let sources: SettingsSources = { env: terminal.env, file: {}, fileName: '', operatorFlags };
  let inForce: Setting[] = [];
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
    .hook('preAction', async (_slipway, command) => {
      const flag: unknown = command.getOptionValue('config');
      const path = typeof flag === 'string' ? flag : terminal.env['SLIPWAY_CONFIG'];
      if (path)
        sources = {
          ...sources,
          file: await readSettingsFile(path, terminal.cwd, settableFlags(slipway)),
          fileName: path,
        };
      inForce = settle(command, sources);
      const chosen = command.registeredArguments.some((argument) => argument.name() === 'operator')
        ? namedOperators(command.args, sources)
        : undefined;
      if (chosen && chosen.names.length > 0)
        inForce.push({ name: operatorsKey, value: chosen.names.join(','), from: chosen.from });
      if (command.getOptionValue('verbose') === true && command.name() !== 'run')
        for (const { name, value, from } of inForce) terminal.err(`setting ${name} = ${value} (${from})\n`);
    })
    .addHelpText(
      'after',
      examples(
        ['slipway up', 'everything on a cluster of its own, nothing to install'],
        ['slipway run operand --install-crds', 'one operator on the cluster of your kubeconfig'],
        ['slipway status -w', 'what it manages, live'],
      ) +
        '\n\nEvery flag can also be set in the environment (--data: SLIPWAY_DATA) or in a file (--config FILE,\nSLIPWAY_CONFIG), in this order of strength. Exit codes: 0 done, 1 failed, 2 wrong usage,\n3 no cluster, 4 not allowed, 5 not installed, 130 interrupted.',
    );

  const add = (name: string, description: string): Command =>
    slipway
      .command(name)
      .description(description)
      .option('--config <file>', 'YAML file with settings (SLIPWAY_CONFIG)')
      .option('--verbose', 'say more, and where each setting came from');
  const withOperators = (command: Command): Command =>
    command.addArgument(
      new Argument('[operator...]', `which operators (default: ${operators.map((each) => each.name).join(', ')})`),
    );
  const withConnection = (command: Command): Command =>
    command
      .option('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, in-cluster, ~/.kube/config)')
      .option('--context <name>', 'context of the kubeconfig');
  const withCluster = (command: Command): Command =>
    command
      .addOption(
        new Option(
          '--port <number>',
          'port of the API server (default: 16443, or a free one when that is taken)',
        ).argParser(portValue('port')),
      )
      .option('--data <dir>', 'keep the cluster here (default: in memory)')
      // Not from a file: `kubeconfig: ~/.kube/config` there means the one to read, and this one is written.
      .addOption(perCall(new Option('--kubeconfig <file>', 'where to write the kubeconfig')));
  const withOperatorFlags = (command: Command): Command => {
    for (const flag of operatorFlags) command.addOption(operatorOption(flag));
    return command;
  };
  const output = () =>
    new Option('-o, --output <format>', 'output format')
      .choices(['table', 'wide', 'json', 'yaml', 'name'])
      .default('table');
  const timeout = () =>
    new Option('--timeout <duration>', 'how long to wait (default: 5m)').argParser(durationValue('timeout'));
  const chosen = (names: readonly string[]) => chooseOperators(operators, namedOperators(names, sources).names);
  const choice = (names: readonly string[], flags: Readonly<Record<string, unknown>>): OperatorChoice => ({
    operators: chosen(names),
    named: namedOperators(names, sources).names.length > 0,
    settings: operatorSettings(operatorFlags, flags, terminal.env),
    inForce,
  });

  withOperatorFlags(
    withCluster(withOperators(add('up', 'embedded cluster, operators and an example of each, until Ctrl-C'))),
  )
    .addHelpText('after', examples(['slipway up'], ['slipway up operand --data ./cluster --port 0']))
    .action(async (names: string[], flags) => {
      const { upCommand } = await import('./commands/up.ts');
      await upCommand(context, choice(names, flags), flags);
    });

  withCluster(add('cluster', 'the embedded API server alone, until Ctrl-C'))
    .addHelpText('after', examples(['slipway cluster --port 0 --kubeconfig ./kubeconfig']))
    .action(async (flags) => {
      const { clusterCommand } = await import('./commands/cluster.ts');
      await clusterCommand(context, flags);
    });

  withOperatorFlags(withConnection(withOperators(add('run', 'operators against any cluster, also in a pod'))))
    .option('--install-crds', 'apply the CRDs first')
    .option('--leader-elect', 'run only while holding the lease')
    .option('--leader-election-namespace <name>', 'namespace of the lease (default: the one of the context or pod)')
    .addOption(
      new Option('--health-port <number>', 'serve /healthz and /readyz (default: off)').argParser(
        portValue('health-port'),
      ),
    )
    .addOption(
      new Option('--metrics-port <number>', 'serve /metrics (default: off)').argParser(portValue('metrics-port')),
    )
    .addOption(
      new Option('--log-level <level>', 'least level that is logged')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .addHelpText(
      'after',
      examples(
        ['slipway run --install-crds'],
        ['slipway run operand --leader-elect --health-port 8081 --metrics-port 8080'],
      ),
    )
    .action(async (names: string[], flags) => {
      const { runCommand } = await import('./commands/run.ts');
      await runCommand(context, choice(names, flags), flags);
    });

  withConnection(add('status', 'what each operator manages, its state, since when, what it waits for'))
    .option('-w, --watch', 'keep showing it')
    .addOption(output())
    .addHelpText('after', examples(['slipway status'], ['slipway status -w'], ['slipway status -o json']))
    .action(async (flags) => {
      const { statusCommand } = await import('./commands/status.ts');
      await statusCommand(context, flags);
    });

  withConnection(add('plan', 'what applying this Operand or these objects would change'))
    .requiredOption('-f, --file <file>', 'YAML or JSON')
    .addOption(output())
    .addHelpText('after', examples(['slipway plan -f shop.yaml'], ['slipway plan -f shop.yaml -o json']))
    .action(async (flags) => {
      const { planCommand } = await import('./commands/plan.ts');
      await planCommand(context, flags);
    });

  withConnection(withOperators(add('install', 'put Slipway itself onto the cluster, or bring it up to date')))
    .option('--namespace <name>', 'where it runs (default: slipway-system)')
    .option('--image <name>', `image to run (default: slipway:${context.version})`)
    .addOption(
      new Option('--replicas <number>', 'how many pods; one of them leads (default: 2)').argParser(
        countValue('replicas', 0),
      ),
    )
    .addOption(timeout())
    .option('--no-wait', 'do not wait until it runs')
    .option('--print', 'print the objects instead of applying them')
    .addHelpText('after', examples(['slipway install operand'], ['slipway install --print | kubectl diff -f -']))
    .action(async (names: string[], flags) => {
      const { installCommand } = await import('./commands/install.ts');
      await installCommand(context, chosen(names), flags);
    });

  withConnection(add('uninstall', 'take off what `slipway install` put onto the cluster'))
    .option('--force', 'delete the objects the operators manage, and what they installed, too')
    .addOption(timeout())
    .addHelpText('after', examples(['slipway uninstall']))
    .action(async (flags) => {
      const { uninstallCommand } = await import('./commands/uninstall.ts');
      await uninstallCommand(context, flags);
    });

  withOperators(add('crds', 'the CRDs as YAML'))
    .option('--write <dir>', 'write one file each instead')
    .addHelpText('after', examples(['slipway crds | kubectl apply -f -'], ['slipway crds operand --write ./crds']))
    .action(async (names: string[], flags) => {
      const { crdsCommand } = await import('./commands/crds.ts');
      await crdsCommand(context, chosen(names), flags);
    });

  withOperators(add('rbac', 'the exact permissions as YAML'))
    .option('--namespace <name>', 'namespace of the ServiceAccount (default: slipway-system)')
    .addHelpText('after', examples(['slipway rbac operand']))
    .action((names: string[], flags) => rbacCommand(context, chosen(names), flags));

  add('explain', 'what a condition reason means and what to do')
    .argument('<reason>', 'such as Waiting or MissingSecret')
    .addHelpText('after', examples(['slipway explain Waiting']))
    .action((reason: string) => explainCommand(context, reason));

  add('completion', 'completion script of a shell')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText('after', examples(['source <(slipway completion bash)'], ['slipway completion fish | source']))
    .action((shell: Shell) => terminal.out(completionScript(slipway, shell, completionWords(context))));

  add('version', 'print the version').action(() => terminal.out(`${context.version}\n`));
  return slipway;
}

function operatorOption(flag: OperatorFlag): Option {
  const fallback = flag.default === undefined ? '' : `, default: ${flag.default}`;
  return new Option(
    `--${flag.name} <${flag.type}>`,
    `${flag.description} (${environmentName(flag)}${fallback})`,
  ).argParser(operatorFlagValue(flag));
}

function completionWords({ operators }: CommandContext): Record<string, readonly string[]> {
  const names = operators.map((operator) => operator.name);
  const reasons = [...new Set(operators.flatMap((operator) => operator.reasons.map((row) => row.reason)))];
  return { up: names, run: names, install: names, crds: names, rbac: names, explain: reasons, completion: shells };
}

function examples(...lines: readonly (readonly [command: string, comment?: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length));
  const rows = lines.map(([command, comment]) => `  $ ${comment ? `${command.padEnd(width)}   ${comment}` : command}`);
  return `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${rows.join('\n')}`;
}
