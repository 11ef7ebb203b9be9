import {
  CommandError,
  exitCodes,
  isConnectionFailure,
  isForbidden,
  isUnauthorized,
  loadSubcommand,
  type Terminal,
} from '@slipway/kube/command';
import type { OperatorDescription, OperatorFlag, PermissionVariant } from '@slipway/runtime';
import { Argument, Command, CommanderError, type Option } from 'commander';

import { commandArguments, commandOptions, examplesText, flagValues, withBareFlags } from './command-options.ts';
import { helpLayout } from './help-layout.ts';
import { LeftOut } from './left-out.ts';
import { givenSettings, settingOptions, variantOptions, withDefaults, type OperatorOption } from './operator-flags.ts';
import { chooseOperators, withOutside } from './operators.ts';
import { refusedCredentialsHint } from './refused-credentials.ts';
import { loadOutsideOperator, operatorArguments, operatorFlag, type OutsideOperator } from './outside-operator.ts';
import {
  namedOperators,
  operatorsKey,
  readSettingsFile,
  settableFlags,
  settle,
  type Setting,
  type SettingsSources,
} from './settings.ts';
import type { Installation, SlipwayCommand, SlipwayContext } from './slipway-command.ts';
import { subcommandFirst } from './subcommand-first.ts';

/** Runs one command line and returns the exit code. Errors become one line, with a second that says what to do. */
export async function runSlipway(argv: readonly string[], installation: Installation): Promise<number> {
  const { terminal } = installation;
  const assembly = new Assembly(installation, argv);
  let program: Command | undefined;
  let words = argv;
  try {
    program = await assembly.assemble(calledCommand(argv));
    words = subcommandFirst(program, argv);
    const command = deepest(program, words);
    const deny = (option: Option) => command.setOptionValueWithSource(option.attributeName(), option.negate, 'cli');
    await program.parseAsync(withBareFlags(words, command.options, deny), { from: 'user' });
    return assembly.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (terminal.signal.aborted) return exitCodes.interrupted;
    if (error instanceof LeftOut) throw error;
    const code = report(error, terminal, {
      verbose: argv.includes('--verbose'),
      called: program && deepest(program, words),
    });
    return code === exitCodes.failed ? assembly.failureCode : code;
  }
}

/** All commands with all their flags. */
export function commandLine(installation: Installation): Promise<Command> {
  return new Assembly(installation).assemble();
}

/** `up` in `slipway up operand` and in `slipway help up`. */
function calledCommand(argv: readonly string[]): string {
  const [first = '', second = ''] = argv.filter((word) => !word.startsWith('-'));
  return first === 'help' ? second : first;
}

/** `chart install` of `slipway chart install --frob`. */
function deepest(command: Command, argv: readonly string[]): Command {
  const below = command.commands.find((each) => each.name() === argv[0]);
  return below ? deepest(below, argv.slice(1)) : command;
}

/** `slipway chart install`. */
function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** `slipway chart install --help lists its flags`. */
function helpHint(command: Command): string {
  return `${pathOf(command)} --help lists its ${command.commands.length > 0 ? 'commands' : 'flags'}`;
}

/** What was called, and how much is said of what went wrong. */
interface Called {
  readonly verbose: boolean;
  readonly called: Command | undefined;
}

function report(error: unknown, terminal: Terminal, { verbose, called }: Called): number {
  const known = error instanceof CommandError ? error : refusal(error);
  const { message } = known ?? (error instanceof Error ? error : new Error(String(error)));
  const usage = known?.exitCode === exitCodes.usage && called ? helpHint(called) : undefined;
  const hint = known ? (known.hint ?? usage) : verbose ? undefined : 'run again with --verbose for more';
  terminal.err(`slipway: ${message}\n${hint ? `  ${hint}\n` : ''}`);
  if (verbose && error instanceof Error) terminal.err(`${error.stack}\n`);
  return known?.exitCode ?? exitCodes.failed;
}

/** What a cluster may answer to any command. */
function refusal(error: unknown): CommandError | undefined {
  if (isUnauthorized(error))
    return new CommandError(error.message, { hint: refusedCredentialsHint, exitCode: exitCodes.notAllowed });
  if (isForbidden(error))
    return new CommandError(error.message, {
      hint: 'the user of the kubeconfig context may not do this; `slipway rbac` prints what operators need',
      exitCode: exitCodes.notAllowed,
    });
  if (isConnectionFailure(error))
    return new CommandError(error.message, {
      hint: 'the cluster went away while the command ran; run it again',
      exitCode: exitCodes.unreachable,
    });
  return undefined;
}

/** The options of one command. */
interface CommandOptions {
  /** Its own, by flag name. */
  readonly options: ReadonlyMap<string, Option>;
  /** Settings of operators. */
  readonly settings: readonly OperatorOption<OperatorFlag>[];
  /** Permission variants of operators. */
  readonly variants: readonly OperatorOption<PermissionVariant>[];
}

/** How tools of this trade call what is called otherwise here. */
const commandsElsewhere: Readonly<Record<string, string>> = {
  create: 'npm create slipway FOLDER begins an operator',
  get: 'slipway status shows what is managed',
  init: 'npm create slipway FOLDER begins an operator',
  new: 'npm create slipway FOLDER begins an operator',
  upgrade: 'slipway install brings what is installed up to date',
};

/** Makes the command line of what the commands declare. Only a command that is called is read: `slipway --help` waits for none. */
class Assembly {
  readonly #installation: Installation;
  readonly #packages: readonly string[];
  readonly #words: readonly string[];
  #operators: Promise<readonly OperatorDescription[]> | undefined;
  #outside: Promise<readonly OutsideOperator[]> | undefined;
  /** What named the operators of other packages. */
  readonly #given = new Map<OperatorDescription, string>();
  #sources: SettingsSources;
  #inForce: Setting[] = [];
  exitCode: number = exitCodes.ok;
  /** How the command that was called ends when it fails. */
  failureCode: number = exitCodes.failed;

  /** `argv` names operators from outside, and those whose flags the help is about. */
  constructor(installation: Installation, argv: readonly string[] = []) {
    this.#installation = installation;
    this.#packages = operatorArguments(argv);
    this.#words = argv;
    this.#sources = { env: installation.terminal.env, file: {}, fileName: '' };
  }

  /** The program with one command read, or with all. */
  async assemble(only?: string): Promise<Command> {
    const { commands, terminal, version } = this.#installation;
    const program: Command = new Command('slipway')
      .description('Installs platform software on Kubernetes, keeps it right, upgrades it and removes it cleanly.')
      .version(version, '--version', 'print the version')
      // A command may have a flag of the same name, such as the version of a chart.
      .enablePositionalOptions()
      .configureHelp(helpLayout)
      .configureOutput({
        writeOut: (text) => terminal.out(text),
        writeErr: (text) => terminal.err(text),
        getOutHelpWidth: () => terminal.columns(),
        getErrHelpWidth: () => terminal.columns(),
        outputError: (text, write) => write(text.replace(/^error: /, 'slipway: ')),
      })
      .exitOverride()
      .showHelpAfterError(`  ${this.#otherWord()}slipway --help lists the commands`)
      .hook('preAction', (_program, command) => this.#settle(program, command))
      .addHelpText('after', programHelp);
    for (const { name, summary, load } of commands) {
      const command = program.command(name).description(summary);
      if (only === undefined || only === name)
        await this.#declare(command, await load(), only === undefined ? 'all' : this.#wordsAfter(name));
    }
    return program;
  }

  /** With `all`, everything below it too; else what the words after it may mean. */
  async #declare(command: Command, declared: SlipwayCommand, words: readonly string[] | 'all'): Promise<void> {
    for (const [name, below] of Object.entries(declared.subcommands ?? {})) {
      const named = command.command(name).description(below.summary);
      if (words === 'all') await this.#declare(named, await loadSubcommand(below), words);
      else if (words.includes(name))
        await this.#declare(named, await loadSubcommand(below), words.slice(words.indexOf(name) + 1));
    }
    const otherWord = Object.entries(declared.knownElsewhere ?? {}).find(([known]) => says(words, known));
    command.showHelpAfterError(`  ${otherWord ? `${otherWord[1]}; ` : ''}${helpHint(command)}`);
    const addExamples = () => {
      if (declared.examples?.length) command.addHelpText('after', examplesText(declared.examples));
    };
    if (!declared.run) return addExamples();
    const operators = declared.takesOperators || declared.operatorFlags ? await this.#loadOperators() : [];
    const outside = operators.length > 0 ? await this.#loadOutside() : [];
    const isOutside = (operator: OperatorDescription) => outside.some((each) => each.operator === operator);
    if (declared.takesOperators) {
      const meant = chooseOperators(operators, [], outside);
      const names = meant.map((operator) => operator.name).join(', ');
      command.addArgument(new Argument('[operator...]', `which operators (default: ${names})`));
    }
    for (const argument of commandArguments(declared)) command.addArgument(argument);
    const options = commandOptions(withOperatorFlag(declared));
    const taken = new Set([...options.keys(), 'help']);
    const settings = declared.operatorFlags === 'settings' ? settingOptions(operators, taken) : [];
    const variants = declared.operatorFlags === 'variants' ? variantOptions(operators, taken) : [];
    for (const option of options.values()) command.addOption(option);
    const added = [...settings, ...variants];
    for (const { operator, option } of added) {
      option
        .helpGroup(`Flags of ${operator.name}:`)
        .hideHelp(!this.#words.includes(operator.name) && !isOutside(operator));
      command.addOption(option);
    }
    if (added.some(({ option }) => option.hidden))
      command.addHelpText('after', `\nFlags of an operator: ${pathOf(command)} OPERATOR --help`);
    addExamples();
    command.action(async () => {
      const context = this.#context(command, declared, { options, settings, variants });
      this.failureCode = declared.failureCode?.(context.flags) ?? exitCodes.failed;
      const code = await declared.run!(context);
      if (typeof code === 'number') this.exitCode = code;
    });
  }

  #otherWord(): string {
    const [command = ''] = this.#words;
    return Object.hasOwn(commandsElsewhere, command) ? `${commandsElsewhere[command]}; ` : '';
  }

  #wordsAfter(command: string): readonly string[] {
    return this.#words.slice(this.#words.indexOf(command) + 1);
  }

  #context(
    command: Command,
    declared: SlipwayCommand,
    { options, settings, variants }: CommandOptions,
  ): SlipwayContext {
    const { terminal, version } = this.#installation;
    const valueOf = (option: Option): unknown => command.getOptionValue(option.attributeName());
    const named = (name: string): unknown => {
      const option = options.get(name);
      return option && valueOf(option);
    };
    const givenTo = (operator: OperatorDescription) => givenSettings(operator, settings, valueOf);
    return {
      terminal,
      version,
      file: this.#sources.file,
      args: command.args,
      flags: flagValues(declared.flags ?? {}, named),
      verbose: named('verbose') === true,
      // Loaded when it is needed: clients of clusters are large, and many commands want none.
      connect: async () =>
        await (
          await import('./connect-command.ts')
        ).connectCluster(terminal, {
          kubeconfig: textOrNothing(named('kubeconfig')),
          context: textOrNothing(named('context')),
        }),
      contexts: async () =>
        await (await import('./connect-command.ts')).contextNames(terminal, textOrNothing(named('kubeconfig'))),
      operators: () => this.#loadOperators(),
      packageFlag: (operator) => {
        const given = this.#given.get(operator);
        return given === undefined ? '' : ` --${operatorFlag} ${given}`;
      },
      choice: async () => {
        const { names } = namedOperators(command.args, this.#sources);
        const outside = await this.#loadOutside();
        return {
          operators: chooseOperators(await this.#loadOperators(), names, outside),
          named: names.length > 0 || outside.length > 0,
          packageOf: (operator) => outside.find((each) => each.operator === operator),
          givenTo,
          settingsOf: (operator) => ({ flags: withDefaults(operator, givenTo(operator)), env: terminal.env }),
          inForce: this.#inForce,
        };
      },
      variants: variants.flatMap(({ operator, flag, option }) => {
        const value = valueOf(option);
        return value === undefined ? [] : [{ operator, variant: flag, value: textOrNothing(value) ?? '' }];
      }),
      program: () => commandLine(this.#installation),
    };
  }

  #loadOperators(): Promise<readonly OperatorDescription[]> {
    return (this.#operators ??= Promise.all([this.#installation.operators(), this.#loadOutside()]).then(
      ([own, outside]) => withOutside(own, outside),
    ));
  }

  #loadOutside(): Promise<readonly OutsideOperator[]> {
    const { cwd } = this.#installation.terminal;
    return (this.#outside ??= Promise.all(
      [...new Set(this.#packages)].map(async (given) => {
        const outside = await loadOutsideOperator(given, cwd);
        this.#given.set(outside.operator, given);
        return outside;
      }),
    ));
  }

  /** Completes what the command line left open, before the command runs. */
  async #settle(program: Command, command: Command): Promise<void> {
    const { terminal } = this.#installation;
    const path = textOrNothing(command.getOptionValue('config')) ?? terminal.env['SLIPWAY_CONFIG'];
    if (path) {
      const file = await readSettingsFile(path, terminal.cwd, (names) => this.#strangers(program, names));
      this.#sources = { ...this.#sources, file, fileName: path };
    }
    this.#inForce = settle(command, this.#sources);
    const takesOperators = command.registeredArguments.some((argument) => argument.name() === 'operator');
    const chosen = takesOperators ? namedOperators(command.args, this.#sources) : undefined;
    if (chosen && chosen.names.length > 0)
      this.#inForce.push({ name: operatorsKey, value: chosen.names.join(','), from: chosen.from });
    if (command.getOptionValue('verbose') === true && command.name() !== 'run')
      for (const { name, value, from } of this.#inForce) terminal.err(`setting ${name} = ${value} (${from})\n`);
  }

  /** Names no command knows. The others are read only when this one does not know all: a pod's file is about `run`. */
  async #strangers(program: Command, names: readonly string[]): Promise<readonly string[]> {
    const own = settableFlags(program);
    if (names.every((name) => own.has(name))) return [];
    const all = settableFlags(await new Assembly(this.#installation, this.#packages).assemble());
    return names.filter((name) => !all.has(name));
  }
}

/** Whether the words after a command hold a flag, or begin with the name of a command, that other programs have. */
function says(words: readonly string[] | 'all', known: string): boolean {
  if (words === 'all') return false;
  if (!known.startsWith('-')) return words.find((word) => !word.startsWith('-')) === known;
  return words.some((word) => word === known || word.startsWith(`${known}=`));
}

/** A command that works with operators takes those of other packages, too. */
function withOperatorFlag(declared: SlipwayCommand): SlipwayCommand {
  const { takesOutsideOperators = declared.takesOperators } = declared;
  return takesOutsideOperators ? { ...declared, flags: { ...declared.flags, [operatorFlag]: outsideFlag } } : declared;
}

const outsideFlag = {
  type: 'string',
  value: 'package',
  repeated: true,
  summary: 'an operator from a package of its own, by folder (./my-operator) or name',
} as const;

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

const programHelp = `${examplesText([
  { line: 'slipway up', comment: 'everything on a cluster of its own, nothing to install' },
  { line: 'slipway run operand --install-crds', comment: 'one operator on the cluster of your kubeconfig' },
  { line: 'slipway status -w', comment: 'what it manages, live' },
])}

Every flag can also be set in the environment (--data: SLIPWAY_DATA) or in a file (--config FILE,
SLIPWAY_CONFIG), in this order of strength. Exit codes: 0 done, 1 failed, 2 wrong usage,
3 no cluster, 4 not allowed, 5 not installed, 130 interrupted.`;
