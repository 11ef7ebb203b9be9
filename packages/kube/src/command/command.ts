import type { Client } from '../client.ts';
import type { Transport } from '../transport.ts';
import type { Terminal } from './terminal.ts';

/**
 * A subcommand of `slipway`: its arguments, flags, examples and what it does, in one value. The package that brings it names
 * the module under `slipway.commands` in its `package.json`, with the summary that `slipway --help` shows; the module exports
 * the value as `command` and is loaded only when somebody calls it.
 */
export interface Command<F extends CommandFlags = CommandFlags> {
  /** What comes after its name, in order. Default: nothing. */
  readonly arguments?: readonly CommandArgument[];
  /** By name without dashes, such as `dry-run`. Default: none. */
  readonly flags?: F;
  /** Flags, and commands below this one, that other programs have for what is done otherwise here, and what to say to whoever tries them. */
  readonly knownElsewhere?: Readonly<Record<string, string>>;
  /** It works on a cluster: adds `--kubeconfig` and `--context`, which `connect` of its context follows. */
  readonly connection?: boolean;
  /** Lines to type, with a word on each where it helps. */
  readonly examples?: readonly CommandExample[];
  /** Commands below it, by name. */
  readonly subcommands?: Readonly<Record<string, Subcommand>>;
  /** How it ends when it fails, for commands whose 1 means something else. Default: 1. */
  failureCode?(flags: FlagValues<F>): number;
  /** Does it. A number is the exit code; an error a user can do something about is a `CommandError`. Absent: only subcommands do something. */
  run?(context: CommandContext<F>): Promise<number | void> | number | void;
}

export interface Subcommand {
  /** One line for the help of the command above. */
  readonly summary: string;
  /** The command, or how to load it: what nobody calls is not loaded. */
  readonly command: Command | (() => Promise<Command>);
}

/** The command behind a name, loaded when it has to be. */
export async function loadSubcommand({ command }: Subcommand): Promise<Command> {
  return typeof command === 'function' ? await command() : command;
}

export interface CommandArgument {
  readonly name: string;
  readonly summary?: string;
  /** Default: it may be left out. */
  readonly required?: boolean;
  /** It takes all that is left. Only the last may. */
  readonly repeated?: boolean;
  readonly choices?: readonly string[];
}

export interface CommandExample {
  readonly line: string;
  readonly comment?: string;
}

export type CommandFlags = Readonly<Record<string, CommandFlag>>;

interface CommandFlagBase {
  /** One line for the help. */
  readonly summary: string;
  /** One letter, such as `f` for `-f`. */
  readonly short?: string;
  /** Only the command line may give it, neither the environment nor a file. */
  readonly perCall?: boolean;
  /** Its value is shown to nobody, `--verbose` or not. Default false. */
  readonly secret?: boolean;
}

interface ValueFlag extends CommandFlagBase {
  /** How the help calls the value, such as `file`. Default: the type. */
  readonly value?: string;
  /** Leaving it out is an error. */
  readonly required?: boolean;
}

/** What a flag is given as and becomes: a duration (`90s`) becomes milliseconds. */
export type CommandFlag =
  | (CommandFlagBase & {
      readonly type: 'boolean';
      /** With `true` the flag is typed `--no-NAME`. Default false. */
      readonly default?: boolean;
    })
  | (ValueFlag & {
      readonly type: 'string';
      readonly choices?: readonly string[];
      readonly default?: string;
      /** What it is when it is given without a value. A value is then written after `=`: what follows is the next argument. */
      readonly bare?: string;
      /** It may be given several times; the value is a list. */
      readonly repeated?: boolean;
    })
  | (ValueFlag & {
      readonly type: 'integer';
      readonly least?: number;
      readonly most?: number;
      readonly default?: number;
    })
  | (ValueFlag & { readonly type: 'duration' });

type FlagValue<F extends CommandFlag> = F extends { type: 'boolean' }
  ? boolean
  : F extends { type: 'integer' }
    ? F extends { required: true } | { default: number }
      ? number
      : number | undefined
    : F extends { type: 'duration' }
      ? F extends { required: true }
        ? number
        : number | undefined
      : F extends { repeated: true }
        ? readonly Choice<F>[]
        : F extends { required: true } | { default: string }
          ? Choice<F>
          : Choice<F> | undefined;

type Choice<F> = F extends { choices: readonly (infer C extends string)[] } ? C : string;

/** What the flags of a command became, by name. */
export type FlagValues<F extends CommandFlags> = { readonly [N in keyof F]: FlagValue<F[N]> };

/** What a command gets. */
export interface CommandContext<F extends CommandFlags = CommandFlags> {
  /** Everything it may touch outside the cluster. */
  readonly terminal: Terminal;
  /** The arguments as typed. */
  readonly args: readonly string[];
  readonly flags: FlagValues<F>;
  /** `--verbose` was given. */
  readonly verbose: boolean;
  /** The cluster of `--kubeconfig`, `$KUBECONFIG`, the pod or the usual file. Fails with what to do when it does not answer. */
  readonly connect: () => Promise<ConnectedCluster>;
}

/** A cluster a command works on. */
export interface ConnectedCluster extends AsyncDisposable {
  readonly client: Client;
  readonly transport: Transport;
  /** The namespace of the context, or `default`. */
  readonly namespace: string;
  /** Where the configuration came from, for people. */
  readonly origin: string;
  /** The context of the kubeconfig, where there is one. */
  readonly context?: string | undefined;
  /** Another transport, for what must not wait behind anything else. Closed with the cluster. */
  openTransport(): Transport;
}

/** Gives a command the types of its own flags. */
export function defineCommand<const F extends CommandFlags>(command: Command<F>): Command<F> {
  return command;
}
