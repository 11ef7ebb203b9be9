import { CommandError, exitCodes } from '@slipway/kube';
import type { Controller, OperatorDescription, OperatorSettings } from '@slipway/runtime';

/** The named operators, or all. An unknown name is an error that lists the known ones. */
export function chooseOperators(
  all: readonly OperatorDescription[],
  names: readonly string[],
): readonly OperatorDescription[] {
  for (const name of names) {
    if (!all.some((operator) => operator.name === name)) {
      throw new CommandError(`there is no operator '${name}'`, {
        hint: `known operators: ${all.map((operator) => operator.name).join(', ')}`,
        exitCode: exitCodes.usage,
      });
    }
  }
  return names.length === 0 ? all : all.filter((operator) => names.includes(operator.name));
}

/** The controllers of an operator. It refuses settings it cannot work with; that is the user's to mend. */
export function controllersOf(operator: OperatorDescription, settings: OperatorSettings): readonly Controller[] {
  try {
    return operator.controllers(settings);
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error), {
      hint: 'slipway run --help lists the settings; name operators to run only those',
      exitCode: exitCodes.usage,
      cause: error,
    });
  }
}
