import { CommandError, exitCodes } from '@slipway/kube/command';
import type { Controller, OperatorDescription, OperatorSettings } from '@slipway/runtime';

import type { OutsideOperator } from './outside-operator.ts';
import type { PackageFlag } from './slipway-command.ts';

/** The named operators and those of other packages; without either, all. An unknown name is an error that lists the known ones. */
export function chooseOperators(
  all: readonly OperatorDescription[],
  names: readonly string[],
  outside: readonly OutsideOperator[] = [],
): readonly OperatorDescription[] {
  for (const name of names) {
    if (!all.some((operator) => operator.name === name)) {
      throw new CommandError(`there is no operator '${name}'`, {
        hint: `known operators: ${all.map((operator) => operator.name).join(', ')}`,
        exitCode: exitCodes.usage,
      });
    }
  }
  if (names.length === 0 && outside.length === 0) return all;
  return all.filter((operator) => names.includes(operator.name) || outside.some((each) => each.operator === operator));
}

/** All operators, those of other packages last. Names tell them apart, so each may be there once. */
export function withOutside(
  own: readonly OperatorDescription[],
  outside: readonly OutsideOperator[],
): readonly OperatorDescription[] {
  const all = [...own];
  for (const { operator, packageName } of outside) {
    if (all.some((each) => each.name === operator.name))
      throw new CommandError(`${packageName}: there is an operator '${operator.name}' already`, {
        hint: 'give the operator of the package another name',
        exitCode: exitCodes.usage,
      });
    all.push(operator);
  }
  return all;
}

/** The controllers of an operator. It refuses settings it cannot work with; that is the user's to mend. */
export function controllersOf(
  operator: OperatorDescription,
  settings: OperatorSettings,
  packageFlag: PackageFlag,
): readonly Controller[] {
  try {
    return operator.controllers(settings);
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error), {
      hint: `slipway run ${operator.name}${packageFlag(operator)} --help lists its settings; name operators to run only those`,
      exitCode: exitCodes.usage,
      cause: error,
    });
  }
}
