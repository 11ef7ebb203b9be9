import type { Command, CommandContext, CommandFlags, Terminal } from '@slipway/kube';
import type { OperatorDescription, OperatorSettings, PermissionVariant } from '@slipway/runtime';
import type { Command as CommanderCommand } from 'commander';

import type { OutsideOperator } from './outside-operator.ts';
import type { Setting, SettingsFile } from './settings.ts';

/** What there is to call: the process finds it, the bundle has it built in, a test chooses it. */
export interface Installation {
  readonly terminal: Terminal;
  readonly version: string;
  readonly commands: readonly FoundCommand[];
  /** Reads the operators. Asked only for commands that need them. */
  readonly operators: () => Promise<readonly OperatorDescription[]>;
}

/** A command there is. Reading it takes time; its name and summary are known before. */
export interface FoundCommand {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<SlipwayCommand>;
}

/** A command that also knows the operators: those of `slipway` itself. Every other command is one that asks for less. */
export interface SlipwayCommand<F extends CommandFlags = CommandFlags> extends Omit<Command<F>, 'run'> {
  /** It takes names of operators; none means all. */
  readonly takesOperators?: boolean;
  /** It takes these flags of the operators: their settings, or their permission variants. Default: none. */
  readonly operatorFlags?: 'settings' | 'variants';
  /** It takes `--operator`, for operators of other packages. Default: as `takesOperators`. */
  readonly takesOutsideOperators?: boolean;
  run?(context: SlipwayContext<F>): Promise<number | void> | number | void;
}

export interface SlipwayContext<F extends CommandFlags = CommandFlags> extends CommandContext<F> {
  readonly version: string;
  /** The contexts of the kubeconfig that `connect` would read. */
  readonly contexts: () => Promise<readonly string[]>;
  /** All operators there are. */
  readonly operators: () => Promise<readonly OperatorDescription[]>;
  /** Those that are meant, with their settings. */
  readonly choice: () => Promise<OperatorChoice>;
  /** What another command has to be told to know an operator too: ` --operator ./boats`, or nothing when it is one of ours. */
  readonly packageFlag: PackageFlag;
  /** What the file of `--config` says, by flag name. */
  readonly file: SettingsFile;
  /** Permission variants that were asked for. */
  readonly variants: readonly ChosenVariant[];
  /** Every command with every flag, for who writes about them. */
  readonly program: () => Promise<CommanderCommand>;
}

export type PackageFlag = (operator: OperatorDescription) => string;

export interface ChosenVariant {
  readonly operator: OperatorDescription;
  readonly variant: PermissionVariant;
  readonly value: string;
}

/** The operators a command works on. */
export interface OperatorChoice {
  readonly operators: readonly OperatorDescription[];
  /** They were named; otherwise they are all there are. */
  readonly named: boolean;
  /** The package of an operator that did not come with this command. */
  readonly packageOf: (operator: OperatorDescription) => OutsideOperator | undefined;
  /** An operator's own flags. */
  readonly settingsOf: (operator: OperatorDescription) => OperatorSettings;
  /** What somebody said about an operator's flags, by flag name: no defaults. */
  readonly givenTo: (operator: OperatorDescription) => Readonly<Record<string, string>>;
  /** Everything in force, for `--verbose`. */
  readonly inForce: readonly Setting[];
}

/** Gives a command the types of its own flags. */
export function slipwayCommand<const F extends CommandFlags>(command: SlipwayCommand<F>): SlipwayCommand<F> {
  return command;
}
