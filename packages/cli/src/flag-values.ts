import { parseDuration } from '@slipway/kube';
import type { OperatorFlag } from '@slipway/runtime';

import { CliError, exitCodes } from './cli-error.ts';

function refuse(flag: string, wanted: string, text: string): never {
  throw new CliError(`--${flag} must be ${wanted}, not '${text}'`, { exitCode: exitCodes.usage });
}

/** Reads a port. */
export function portValue(flag: string): (text: string) => number {
  return (text) =>
    /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : refuse(flag, 'a number from 0 to 65535', text);
}

/** Reads a whole number from `least` on. */
export function countValue(flag: string, least: number): (text: string) => number {
  return (text) =>
    /^\d{1,9}$/.test(text) && Number(text) >= least
      ? Number(text)
      : refuse(flag, `a whole number from ${least} on`, text);
}

/** Reads a duration such as `90s`; gives milliseconds. */
export function durationValue(flag: string): (text: string) => number {
  return (text) => {
    try {
      return parseDuration(text);
    } catch {
      return refuse(flag, 'a duration such as 90s or 5m', text);
    }
  };
}

/** Checks the text of an operator's flag against its type and leaves it as it is. */
export function operatorFlagValue(flag: OperatorFlag): (text: string) => string {
  return (text) => {
    if (flag.type === 'integer' && !/^-?\d+$/.test(text)) refuse(flag.name, 'a whole number', text);
    if (flag.type === 'boolean' && text !== 'true' && text !== 'false') refuse(flag.name, 'true or false', text);
    if (flag.type === 'duration') durationValue(flag.name)(text);
    return text;
  };
}
